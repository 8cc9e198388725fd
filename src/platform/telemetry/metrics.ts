import type { RequestRecord } from '@sitewright/maas';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isMapping } from '../../core/data/plain-value.ts';
import type { Store, StoreCall } from '../../store/index.ts';

const DAY_MS = 86_400_000;
const REQUEST_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const CALL_SECONDS = [0.05, 0.2, 1, 5, 20, 60, 180];
const WORK_SECONDS = [0.1, 1, 5, 30, 120, 600, 1_800, 7_200];
const LAG_SECONDS = [0.01, 0.05, 0.2, 1, 5, 30, 120];
const STORE_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** Metrics of a process, for a collector. */
export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Metrics of both the API and the worker: process, store, MAAS. */
export class ProcessMetrics implements MetricsPage {
  readonly registry = new Registry();
  readonly #maas: Histogram;
  readonly #maasRetries: Counter;
  readonly #store: Histogram;

  constructor(version: string) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'sitewright_build_info',
      help: 'Always 1; the label has the version of this program.',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1);
    this.#maas = new Histogram({
      name: 'sitewright_maas_call_duration_seconds',
      help: 'Duration of calls to MAAS, per attempt.',
      labelNames: ['method', 'operation', 'result'],
      buckets: CALL_SECONDS,
      registers,
    });
    this.#maasRetries = new Counter({
      name: 'sitewright_maas_retries_total',
      help: 'Reads of MAAS that were retried because the connection broke or the nonce was used up.',
      registers,
    });
    this.#store = new Histogram({
      name: 'sitewright_store_call_duration_seconds',
      help: 'Duration of calls to the store, including retries.',
      labelNames: ['kind', 'result'],
      buckets: STORE_SECONDS,
      registers,
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** For the hook `onAttempt` of the MAAS client. */
  readonly maasAttempt = ({ request, ms, outcome, again }: RequestRecord): void => {
    const method = request.slice(0, request.indexOf(' '));
    // Only our code sets operations, because users' values are escaped.
    const operation = /[?&]op=([a-z_]+)/.exec(request)?.[1] ?? 'none';
    this.#maas.observe({ method, operation, result: maasResult(outcome) }, ms / 1000);
    if (again) this.#maasRetries.inc();
  };

  /** For the hook `onCall` of the store. */
  readonly storeCall = ({ kind, ok, ms }: StoreCall): void => {
    this.#store.observe({ kind, result: ok ? 'ok' : 'error' }, ms / 1000);
  };
}

/** Class of the status, or the kind of failure without one. */
const maasResult = (outcome: number | string): string =>
  typeof outcome === 'number'
    ? `${Math.floor(outcome / 100)}xx`
    : outcome === 'TIMEOUT'
      ? 'timeout'
      : outcome === 'ECONNREFUSED'
        ? 'refused'
        : 'no_answer';

/** The last count of polling agents, with its time. */
interface AgentsSeen {
  /** Returns immediately; undefined if unknown. */
  latest(): { readonly online: number; readonly offline: number; readonly at: Date } | undefined;
}

/** Metrics of the API: its requests, and the current runs and nodes in the store. */
export class ApiMetrics extends ProcessMetrics {
  readonly #queriedStore: Pick<Store, 'runs' | 'nodes' | 'audit' | 'checkResults'>;
  readonly #requests: Histogram;
  readonly #up: Gauge;
  readonly #runs: Gauge;
  readonly #nodes: Gauge;
  readonly #agents: Gauge;
  readonly #agentsAt: Gauge;
  readonly #alarms: Gauge;
  readonly #checks: Gauge;
  readonly #checkSeconds: Gauge;
  readonly #checkNames = new LabelValues();
  readonly #alarmKinds = new LabelValues();
  readonly #agentsSeen: AgentsSeen | undefined;
  readonly #kinds = new LabelValues();
  readonly #phases = new LabelValues();
  readonly #outcomes = new LabelValues();

  constructor(version: string, store: Pick<Store, 'runs' | 'nodes' | 'audit' | 'checkResults'>, agents?: AgentsSeen) {
    super(version);
    this.#queriedStore = store;
    this.#agentsSeen = agents;
    const registers = [this.registry];
    this.#requests = new Histogram({
      name: 'sitewright_http_request_duration_seconds',
      help: 'Duration of requests to the API, by the path of their route.',
      labelNames: ['method', 'route', 'status'],
      buckets: REQUEST_SECONDS,
      registers,
    });
    this.#up = new Gauge({
      name: 'sitewright_store_up',
      help: 'Whether the store answered when these metrics were requested.',
      registers,
    });
    this.#runs = new Gauge({
      name: 'sitewright_runs',
      help: 'Runs in the store, by kind, phase and outcome (none while open).',
      labelNames: ['kind', 'phase', 'outcome'],
      registers,
    });
    this.#nodes = new Gauge({
      name: 'sitewright_nodes',
      help: 'Nodes of the inventory, by whether their agents are recorded as online.',
      labelNames: ['online'],
      registers,
    });
    this.#agents = new Gauge({
      name: 'sitewright_agents',
      help: 'Nodes of clusters, by whether their agents polled Temporal within 90 seconds before the last check.',
      labelNames: ['online'],
      registers,
    });
    this.#agentsAt = new Gauge({
      name: 'sitewright_agents_looked_at_seconds',
      help: 'Time of the last check for agents, in seconds since 1970; it runs when metrics are requested, at most once a minute.',
      registers,
    });
    this.#checks = new Gauge({
      name: 'sitewright_check_results',
      help: 'Newest results of the checks of sites, by verdict: one for each node, or one of a check that is asked once.',
      labelNames: ['check', 'verdict'],
      registers,
    });
    this.#checkSeconds = new Gauge({
      name: 'sitewright_check_duration_seconds',
      help: 'The longest time from the first question to the verdict among the newest results of a check.',
      labelNames: ['check'],
      registers,
    });
    this.#alarms = new Gauge({
      name: 'sitewright_agent_alarms',
      help: 'Alarms of node agents in the audit trail within the last 24 hours, by kind; at most 1000.',
      labelNames: ['kind'],
      registers,
    });
  }

  override async text(): Promise<string> {
    // If the store is unreachable, show no old values.
    const store = this.#queriedStore;
    const since = new Date(Date.now() - DAY_MS).toISOString();
    const counts = await Promise.all([
      store.runs.count(),
      store.nodes.countOnline(),
      store.audit.list({ action: 'agent.alarm', since, limit: 1000 }),
      store.checkResults.count(),
    ]).catch(() => undefined);
    this.#runs.reset();
    this.#alarms.reset();
    this.#nodes.reset();
    this.#up.set(counts === undefined ? 0 : 1);
    const [runs, nodes, alarms, checks] = counts ?? [[]];
    this.#showChecks(checks ?? []);
    for (const { kind, phase, outcome, count } of runs) {
      const labels = {
        kind: this.#kinds.of(kind),
        phase: this.#phases.of(phase),
        outcome: this.#outcomes.of(outcome ?? 'none'),
      };
      this.#runs.inc(labels, count);
    }
    for (const { details } of alarms?.items ?? []) {
      const kind = isMapping(details) && typeof details.kind === 'string' ? details.kind : 'other';
      this.#alarms.inc({ kind: this.#alarmKinds.of(kind) });
    }
    if (nodes !== undefined) {
      this.#nodes.set({ online: 'true' }, nodes.online);
      this.#nodes.set({ online: 'false' }, nodes.offline);
    }
    const seen = this.#agentsSeen?.latest();
    this.#agents.reset();
    if (seen !== undefined) {
      this.#agents.set({ online: 'true' }, seen.online);
      this.#agents.set({ online: 'false' }, seen.offline);
      this.#agentsAt.set(seen.at.getTime() / 1000);
    }
    return super.text();
  }

  #showChecks(checks: Awaited<ReturnType<Store['checkResults']['count']>>): void {
    this.#checks.reset();
    this.#checkSeconds.reset();
    const longest = new Map<string, number>();
    for (const { name, verdict, nodes, longest: ms } of checks) {
      const check = this.#checkNames.of(name);
      this.#checks.inc({ check, verdict }, nodes);
      longest.set(check, Math.max(ms, longest.get(check) ?? 0));
    }
    for (const [check, ms] of longest) this.#checkSeconds.set({ check }, ms / 1000);
  }

  /** @param route path as registered; undefined for an unknown path */
  request(method: string, route: string | undefined, status: number, ms: number): void {
    const known = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : 'other';
    const labels = { method: known, route: route ?? 'unknown', status: `${Math.floor(status / 100)}xx` };
    this.#requests.observe(labels, ms / 1000);
  }
}

/** Metrics of a worker: activities, and the ended tasks they record. */
export class WorkerMetrics extends ProcessMetrics {
  readonly #lag: Histogram;
  readonly #activities: Histogram;
  readonly #repeated: Counter;
  readonly #tasks: Histogram;
  readonly #types = new LabelValues();
  readonly #sdk: () => Promise<string>;

  /** @param sdk metrics of Temporal's SDK, in the same text format */
  constructor(version: string, sdk: () => Promise<string> = async () => '') {
    super(version);
    this.#sdk = sdk;
    const registers = [this.registry];
    this.#lag = new Histogram({
      name: 'sitewright_activity_schedule_to_start_seconds',
      help: 'Time between the scheduling of an activity by a workflow and its start on this worker.',
      labelNames: ['activity'],
      buckets: LAG_SECONDS,
      registers,
    });
    this.#activities = new Histogram({
      name: 'sitewright_activity_duration_seconds',
      help: 'Duration of activity attempts on this worker.',
      labelNames: ['activity', 'result'],
      buckets: WORK_SECONDS,
      registers,
    });
    this.#repeated = new Counter({
      name: 'sitewright_activity_retries_total',
      help: 'Attempts of activities on this worker after the first.',
      labelNames: ['activity'],
      registers,
    });
    this.#tasks = new Histogram({
      name: 'sitewright_task_duration_seconds',
      help: 'Duration of graph tasks on their nodes, as recorded by this worker.',
      labelNames: ['type', 'outcome'],
      buckets: WORK_SECONDS,
      registers,
    });
  }

  override async text(): Promise<string> {
    return (await Promise.all([super.text(), this.#sdk()])).join('');
  }

  activityStarted(activity: string, attempt: number, lagMs: number): void {
    // Clocks of two machines differ: treat slightly negative values as zero.
    this.#lag.observe({ activity }, Math.max(0, lagMs) / 1000);
    if (attempt > 1) this.#repeated.inc({ activity });
  }

  activityEnded(activity: string, result: 'completed' | 'failed' | 'cancelled', ms: number): void {
    this.#activities.observe({ activity, result }, ms / 1000);
  }

  taskEnded(type: string, outcome: string, ms: number): void {
    this.#tasks.observe({ type: this.#types.of(type), outcome }, Math.max(0, ms) / 1000);
  }
}

/**
 * Limits the number of values of a label: the first ones pass, later ones become `other`. For values that should be few
 * but come from data.
 */
export class LabelValues {
  readonly #known = new Set<string>();
  readonly #most: number;

  constructor(most = 50) {
    this.#most = most;
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#most || value.length > 100) return 'other';
    this.#known.add(value);
    return value;
  }
}
