import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isIP } from 'node:net';
import type { RequestRecord } from '@sitewright/maas';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { RecordTasks } from '../../activities/graph-contract.ts';
import { readTaskOrder } from '../../src/clusters/task-order.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import type { MetricsPage, ProcessMetrics, WorkerMetrics } from '../../src/platform/telemetry/metrics.ts';
import type { Traces } from '../../src/platform/telemetry/traces.ts';
import type { Store } from '../../src/store/index.ts';
import { cannotListen } from './listen-error.ts';
import { subjectOfActivity } from './traces.ts';

/** Serves the metrics of a process without its own HTTP server; undefined if it is not configured. @throws ListenError */
export async function startMetricsServer(
  { telemetry }: Settings,
  page: MetricsPage,
  log: Logger,
): Promise<{ readonly url: string; stop(): Promise<void> } | undefined> {
  const { metrics_port: port, metrics_host: host } = telemetry;
  if (port === undefined) return undefined;
  const server = createServer((request, response) => {
    const isAsked = /^\/metrics(\?|$)/.test(request.url ?? '') && ['GET', 'HEAD'].includes(request.method ?? '');
    if (!isAsked) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('GET /metrics\n');
    page.text().then(
      (text) => response.writeHead(200, { 'content-type': page.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(port, host, listening);
  }).catch(cannotListen('the metrics server', { host, port }, 'telemetry.metrics_'));
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}/metrics`;
  log.info({ url }, 'metrics are served');
  return {
    url,
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

/** For the hook `onAttempt` of the MAAS client: measures the attempt, and records it as a span of the current trace. */
export const observeMaas =
  (metrics: ProcessMetrics, traces: Traces | undefined) =>
  (attempt: RequestRecord): void => {
    metrics.maasAttempt(attempt);
    if (traces === undefined) return;
    const { request, ms, outcome } = attempt;
    const [path = request] = request.split('?');
    const span = traces.begin(`MAAS ${path}`, 'client');
    const isGood = typeof outcome === 'number' && outcome < 400;
    const attributes = { 'maas.request': path, 'maas.outcome': outcome };
    traces.end({ ...span, startMs: span.startMs - ms }, attributes, isGood ? {} : { error: String(outcome) });
  };

/** Measures every activity of a worker, and logs failed ones with their subject. */
export function observeActivities(
  metrics: WorkerMetrics,
  log: Logger,
  store: Pick<Store, 'transactions' | 'plans'>,
): ActivityInterceptorsFactory {
  const typeOf = taskTypes(store);
  return (context: Context) => ({
    inbound: {
      async execute(input, next) {
        const { activityType: activity, attempt, currentAttemptScheduledTimestampMs: scheduled } = context.info;
        const started = Date.now();
        metrics.activityStarted(activity, attempt, started - scheduled);
        try {
          const result = await next(input);
          metrics.activityEnded(activity, 'completed', Date.now() - started);
          if (activity === 'record_tasks') await measureTasks(metrics, typeOf, input.args[0] as RecordTasks);
          return result;
        } catch (error) {
          const isCancelled = error instanceof CancelledFailure;
          // A try that waits, e.g. for a resume.
          const isHarmless = isCancelled || (error instanceof ApplicationFailure && error.category === 'BENIGN');
          metrics.activityEnded(activity, isCancelled ? 'cancelled' : 'failed', Date.now() - started);
          if (!isHarmless)
            log.warn({ ...subjectOfActivity(input.args[0]), activity, attempt, err: error }, 'an activity failed');
          throw error;
        }
      },
    },
  });
}

type TaskTypes = (graph: number, node: string, task: string) => Promise<string>;

/** Measures the tasks of a batch that ended. Never fails, because the batch is already recorded. */
async function measureTasks(metrics: WorkerMetrics, typeOf: TaskTypes, { graph, rows }: RecordTasks): Promise<void> {
  for (const { node, task, end } of rows) {
    if (end?.started_at === undefined || end.ended_at === undefined) continue;
    const ms = Date.parse(end.ended_at) - Date.parse(end.started_at);
    if (Number.isFinite(ms)) metrics.taskEnded(await typeOf(graph, node, task), end.outcome, ms);
  }
}

const CACHE_LIMIT = 20_000;

/** Looks up the type of a task in the plan of its graph. A task has the same type on all nodes, so it is read once. */
function taskTypes({ transactions, plans }: Pick<Store, 'transactions' | 'plans'>): TaskTypes {
  const known = new Map<string, string>();
  return async (graph, node, task) => {
    const key = `${graph} ${task}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    const type = await read(graph, node, task).catch(() => undefined);
    if (type === undefined) return 'unknown';
    if (known.size >= CACHE_LIMIT) known.clear();
    known.set(key, type);
    return type;
  };
  async function read(graph: number, node: string, task: string): Promise<string | undefined> {
    const { planHash } = await transactions.get(graph);
    if (planHash === null) return undefined;
    return (await readTaskOrder(plans, planHash, node, task)).type;
  }
}
