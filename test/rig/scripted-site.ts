import { Context } from '@temporalio/activity';
import type {
  CloseRun,
  LoadPlan,
  NodeCall,
  NodesRecord,
  OpenedRun,
  OpenRun,
  OpenRunAnswer,
  SiteActivities,
} from '../../activities/contract.ts';
import type { SitePlan } from '../../src/core/contracts/site-run.ts';
import type { NodeResult } from '../../src/core/deployment/baremetal.ts';
import { planGroups } from '../../src/core/deployment/plan-groups.ts';
import type { DeploymentStrategy, SiteNode } from '../../src/core/deployment/strategy.ts';
import { groupToWire } from '../../src/core/site-run/plan.ts';
import { assembleReport, type NodeRecord } from '../../src/core/site-run/report.ts';

/**
 * A limit of heartbeats for activities whose calls a test counts. Temporal retries an activity whose worker stalls for
 * longer than its limit, and a busy machine stalls for five seconds.
 */
export const PATIENT_HEARTBEAT_SECONDS = 60;

/** A node's call that has started and waits for the test to end it. */
export interface HeldCall {
  readonly verb: string;
  readonly node: string;
  readonly request: NodeCall;
  finish(result?: NodeResult): void;
  fail(kind?: string, message?: string): void;
  throwError(error: Error): void;
}

/**
 * Activities controlled by the test: a site's store and MAAS in one. Node calls succeed immediately
 * unless `hold` makes them wait for the test.
 */
export interface ScriptedSite {
  readonly activities: SiteActivities;
  /** `verb:node` of every node call that began, in order. */
  readonly began: string[];
  readonly aborted: string[];
  readonly records: NodesRecord[];
  readonly opened: OpenRun[];
  readonly closed: CloseRun[];
  plan: SitePlan;
  /** Verbs (`deploy`), calls (`deploy:n1`) or `all`, which wait for the test. */
  hold: Set<string>;
  /** Results of calls that do not wait: `verb:node` to result. */
  results: Map<string, NodeResult>;
  /** Resolves once the named call has started. */
  heldCall(verb: string, node: string): Promise<HeldCall>;
  /** Resolves when this many node calls have started. */
  count(calls: number): Promise<void>;
  overrides: Partial<SiteActivities>;
}

/** Heartbeats until the activity is cancelled, like a well-behaved activity that hangs. */
export async function untilCancelled(): Promise<never> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 200);
  return context.cancelled.finally(() => clearInterval(beat));
}

/** The answer to a run that is opened. */
export const openedSite = (more: Partial<OpenedRun> = {}): OpenRunAnswer => ({
  ...{ ok: true, number: 1, search_attributes: [], notices: false, approved_by_another: false },
  ...more,
});

export const failure = (kind = 'failed-deployment', message = 'the installer failed'): NodeResult => ({
  ok: false,
  failure: { kind, message },
});

export function scriptedSite(
  strategy: DeploymentStrategy,
  nodes: readonly SiteNode[],
  change: Partial<SitePlan> = {},
): ScriptedSite {
  const held = new Map<string, HeldCall>();
  let waiters: (() => void)[] = [];
  const tick = (): void => {
    const wake = waiters;
    waiters = [];
    for (const one of wake) one();
  };
  const until = async (ready: () => boolean): Promise<void> => {
    while (!ready()) await new Promise<void>((resolve) => waiters.push(resolve));
  };
  const pace = { interval: 1, timeout: 3600 };
  const site: ScriptedSite = {
    began: [],
    aborted: [],
    records: [],
    opened: [],
    closed: [],
    hold: new Set(),
    results: new Map(),
    overrides: {},
    plan: {
      site: 'dc1',
      revision: 1,
      hash: 'abc',
      nodes: nodes.map((node) => node.name),
      groups: planGroups(strategy, nodes).map(groupToWire),
      pace: {
        verify_site: pace,
        prepare_site: pace,
        prepare: pace,
        deploy: pace,
        release: pace,
        max_parallel_nodes: 64,
        heartbeat_seconds: PATIENT_HEARTBEAT_SECONDS,
      },
      done: [],
      removed: [],
      warnings: [],
      ...change,
    },
    async heldCall(verb, node) {
      await until(() => held.has(`${verb}:${node}`));
      const call = held.get(`${verb}:${node}`)!;
      held.delete(`${verb}:${node}`);
      return call;
    },
    count: (calls) => until(() => site.began.length >= calls),
    activities: {} as SiteActivities,
  };

  const nodeCall =
    (verb: string) =>
    async (request: NodeCall): Promise<NodeResult> => {
      const key = `${verb}:${request.node}`;
      site.began.push(key);
      const waits = site.hold.has('all') || site.hold.has(verb) || site.hold.has(key);
      if (!waits) {
        tick();
        return site.results.get(key) ?? { ok: true, system_id: `id-${request.node}` };
      }
      return Promise.race([
        new Promise<NodeResult>((resolve, reject) => {
          held.set(key, {
            verb,
            node: request.node,
            request,
            finish: (result) => resolve(result ?? { ok: true, system_id: `id-${request.node}` }),
            fail: (kind, message) => resolve(failure(kind, message)),
            throwError: reject,
          });
          tick();
        }),
        untilCancelled(),
      ]);
    };

  const base: SiteActivities = {
    open_run: async (request) => {
      site.opened.push(request);
      return openedSite({ search_attributes: ['SiteName', 'RunPhase', 'FailedNodes', 'StartedBy'] });
    },
    fetch_source: async () => ({ ok: true, revision: site.plan.revision, commit: 'c0ffee', deployed: false }),
    load_plan: async (_request: LoadPlan) => ({ ok: true, plan: site.plan }),
    verify_site: async () => ({ ok: true, problems: [], warnings: [] }),
    prepare_site: async () => ({ ok: true, problems: [], warnings: [] }),
    prepare_node: nodeCall('prepare'),
    deploy_node: nodeCall('deploy'),
    release_node: nodeCall('release'),
    abort_node: async (request) => {
      site.aborted.push(request.node);
      tick();
      return { found: 'aborted', message: 'aborted' };
    },
    last_errors: async () => ({}),
    ask_maas: async () => ({ since: null }),
    look_at_node: async () => ({ found: 'failed', message: 'failed deployment' }),
    inspect_nodes: async () => ({ counts: { Deployed: nodes.length }, problems: [] }),
    take_permits: async ({ wants }) => ({ granted: wants, waits: [] }),
    await_permits: async ({ wants }) => ({ granted: wants, waits: [] }),
    run_check: async () => ({ unwell: [] }),
    record_nodes: async (record) => {
      site.records.push(record);
    },
    close_run: async (request) => {
      site.closed.push({ ...request, report: assembleReport(request.report, recordedNodes(site.records)) });
    },
  };
  const wired = Object.fromEntries(
    Object.entries(base).map(([name, original]) => [
      name,
      (request: never) => ((site.overrides as Record<string, typeof original | undefined>)[name] ?? original)(request),
    ]),
  ) as unknown as SiteActivities;
  Object.assign(site.activities, wired);
  return site;
}

/** As the store has them. */
function recordedNodes(records: readonly NodesRecord[]): NodeRecord[] {
  const nodes = new Map<string, NodeRecord>();
  for (const { report, ...more } of records
    .toSorted((a, b) => a.sequence - b.sequence)
    .flatMap((record) => record.nodes))
    nodes.set(report.name, { position: null, released: null, ...nodes.get(report.name), ...more, report });
  return [...nodes.values()];
}

/** Nodes without rack or labels; `tags` names a tag a node. */
export const plainNodes = (...names: string[]): SiteNode[] =>
  names.map((name) => ({ name, rack: null, tags: [], labels: {} }));

/** A group that names its nodes. */
export const group = (
  name: string,
  nodes: readonly string[],
  more: Partial<DeploymentStrategy['groups'][number]> = {},
): DeploymentStrategy['groups'][number] => ({
  name,
  critical: false,
  depends_on: [],
  selectors: [{ node_names: nodes }],
  ...more,
});
