// Deploys a site of many nodes on the simulator and measures time, requests to MAAS, events and payload sizes:
//   node bench/site.ts [nodes [groups [latency of MAAS in ms [operators | redeploy]]]]
// With a latency, MAAS refuses more than 50 concurrent requests. With `operators`, the run is paused and resumed, a failed node
// is retried, and the run is cancelled when half of the nodes are deployed: how soon each takes effect at MAAS. With `redeploy`,
// all nodes are then released and deployed again by a run of `redeploy_nodes`, whose requests are counted on their own.
import './bounded.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMachines } from '@sitewright/maas';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { Client, Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createActivities, RunStatuses, statusSinks } from '../activities/index.ts';
import { plannerHere } from '../src/clusters/planning/index.ts';
import { settingsSchema } from '../src/platform/settings/settings.ts';
import { ensureSearchAttributes } from '../src/platform/temporal/search-attributes.ts';
import { runLookups } from '../src/runs/run-lookups.ts';
import { openStore } from '../src/store/index.ts';
import { resolvedRevision } from '../test/rig/resolved-revision.ts';
import { asOne, optionsOfQueues } from '../worker/parts/queue-workers.ts';
import { workflowCode } from '../worker/parts/workflow-bundle.ts';
import { startBenchServer } from './dev-server.ts';
import { type HistorySize, sizeOf } from './history-sizes.ts';
import { siteDocuments } from './site-documents.ts';
import { effects, interrupt, type NodeActivity } from './site-operators.ts';
import { slowRegion, summary } from './slow-region.ts';

const nodes = Number(process.argv[2] ?? 1_000);
const groups = Number(process.argv[3] ?? 20);
const latencyMs = Number(process.argv[4] ?? 0);
const withOperators = process.argv[5] === 'operators';
const withRedeploy = process.argv[5] === 'redeploy';
const names = Array.from({ length: nodes }, (_unused, index) => `n${String(index).padStart(5, '0')}`);

const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error } });
const server = await startBenchServer(folder);
const simulator = await simulateMaas({
  port: 0,
  seed: { machines: names.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' })) },
  auto: {
    commission_ms: 500,
    release_ms: 500,
    deploy_ms: withOperators ? 10_000 : 1_000,
    fail_times: withOperators ? { deploy: { [names[3]!]: 1 } } : {},
  },
});
const region = await slowRegion(simulator.url, latencyMs, latencyMs === 0 ? Number.POSITIVE_INFINITY : 50);
const store = await openStore(join(folder, 'store.db'));
await store.migrate();
await store.sites.create({ name: 'bench' });
await store.sites.addRevision('bench', resolvedRevision([{ name: 'site.yaml', text: siteDocuments(names, groups) }]));
const machines = openMachines({
  url: region.url,
  apiKey: simulatorKeys.admin,
  pollMinSeconds: 0.5,
  pollMaxSeconds: 5,
});
const connection = await Connection.connect({ address: server.address });
const native = await NativeConnection.connect({ address: server.address });
const client = new Client({ connection });
await ensureSearchAttributes(connection, 'default');
const lookups = runLookups(client);
const options = {
  taskQueue: 'sitewright',
  sinks: statusSinks(new RunStatuses({ store, ...lookups })),
  workflowBundle: await workflowCode(),
  // As the orchestrator's: cancellations come with the answers to heartbeats.
  maxHeartbeatThrottleInterval: '1 second' as const,
  activities: createActivities({
    planner: plannerHere(),
    store,
    maas: () => machines,
    ...lookups,
    searchAttributes: async () => ['SiteName', 'RunPhase', 'FailedNodes', 'StartedBy'],
    settings: { max_parallel_nodes: 64, heartbeat_seconds: 20 },
  }),
};
const queues = optionsOfQueues(options, settingsSchema.shape.worker.parse({}));
const worker = asOne(await Promise.all(queues.map((queue) => Worker.create({ ...queue, connection: native }))));
const running = worker.run();
try {
  const started = performance.now();
  const handle = await client.workflow.start('deploy_site', {
    taskQueue: 'sitewright',
    workflowId: 'deploy_site:bench',
    args: [{ site: 'bench' }],
  });
  const isDeploy = ({ kind }: { readonly kind: string }): boolean => kind === 'POST machines/ID/?op=deploy';
  const deployed = (): number => region.seen.filter(isDeploy).length;
  const moments = withOperators ? await interrupt(handle, { retry: names[3]!, deployed, nodes }) : undefined;
  // A cancelled run has no result; its report shows its end.
  const { outcome, counts } = await handle.result().then(
    ({ outcome, nodes: counts }) => ({ outcome, counts }),
    () => handle.query<{ outcome: string; counts: object }>('status'),
  );
  const seconds = (performance.now() - started) / 1000;
  const redeployed = withRedeploy ? await redeploy() : undefined;
  const histories: HistorySize[] = [];
  const activities: NodeActivity[] = [];
  for await (const workflow of client.workflow.list()) {
    const { events } = await client.workflow.getHandle(workflow.workflowId, workflow.runId).fetchHistory();
    activities.push(...nodeActivities(events ?? []));
    histories.push(sizeOf(workflow.workflowId, events ?? []));
  }
  const parent = histories.find((history) => history.id === 'deploy_site:bench');
  const most = histories.reduce((a, b) => (b.events > a.events ? b : a));
  const transitions = (await (await fetch(`${simulator.controlUrl}/effects`)).json()) as { to: number }[];
  console.log(
    JSON.stringify(
      {
        nodes,
        groups,
        machine: `${cpus().length} cores`,
        outcome,
        counts,
        seconds: Math.round(seconds * 10) / 10,
        node_calls_per_second: Math.round((2 * nodes) / seconds),
        deploys: transitions.filter(({ to }) => to === 9).length,
        operators: moments && effects(moments, activities, names[3]!),
        requests: summary(region, nodes),
        redeployed,
        workflows: histories.length,
        parent_events: parent?.events,
        max_events: most,
        largest_event_bytes: Math.max(...histories.map((history) => history.largest)),
        rss_mb: Math.round(process.memoryUsage.rss() / 1e6),
      },
      null,
      1,
    ),
  );
} finally {
  worker.shutdown();
  await running;
  await machines.close();
  await store.close();
  await native.close();
  await connection.close();
  await region.close();
  await simulator.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Releases and deploys all nodes again. Its requests are those of this run alone. */
async function redeploy(): Promise<object> {
  const before = region.seen.length;
  const from = performance.now();
  const handle = await client.workflow.start('redeploy_nodes', {
    taskQueue: 'sitewright',
    workflowId: 'redeploy_nodes:bench',
    args: [{ site: 'bench', nodes: names }],
  });
  const isRelease = ({ kind }: { readonly kind: string }): boolean => kind === 'POST machines/ID/?op=release';
  const { outcome, nodes: counts } = await handle.result();
  const seen = region.seen.slice(before);
  const releases = seen.filter(isRelease).map(({ at }) => at);
  const deployFrom = Math.min(...seen.filter(({ kind }) => kind.endsWith('op=allocate')).map(({ at }) => at));
  return {
    outcome,
    counts,
    seconds: Math.round((performance.now() - from) / 100) / 10,
    seconds_until_all_are_released: Math.round((deployFrom - from) / 100) / 10,
    releases: releases.length,
    requests: summary({ ...region, seen }, nodes),
  };
}

/** Of a history: activities with ids such as `deploy:GROUP:NODE`. */
function nodeActivities(events: readonly temporal.api.history.v1.IHistoryEvent[]): NodeActivity[] {
  const timeOf = ({ eventTime }: temporal.api.history.v1.IHistoryEvent): number =>
    Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;
  const closed = new Map<string, number>();
  for (const event of events) {
    const end =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskCanceledEventAttributes ??
      event.activityTaskTimedOutEventAttributes;
    if (end) closed.set(String(end.scheduledEventId), timeOf(event));
  }
  return events.flatMap((event) => {
    const { activityId, activityType } = event.activityTaskScheduledEventAttributes ?? {};
    const node = activityId?.split(':')[2];
    if (node === undefined) return [];
    const type = activityType?.name ?? '';
    return [{ type, node, scheduled: timeOf(event), closed: closed.get(String(event.eventId)) }];
  });
}
