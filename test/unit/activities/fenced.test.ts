import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NodeCall, SiteActivities, TakePermits } from '../../../activities/contract.ts';
import type { GraphActivities } from '../../../activities/graph-contract.ts';
import { type ActivityDependencies, createActivities } from '../../../activities/index.ts';
import { assertMayStart, type Gate, mayChangeUntil, proveClaim } from '../../../activities/run/fencing.ts';
import { plannerHere } from '../../../src/clusters/planning/index.ts';
import type { RunReport } from '../../../src/core/contracts/site-run-report.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { AT, graphReport, row } from './graph-world.ts';

type Activities = SiteActivities & GraphActivities;

/**
 * Whether an activity proves that its execution has the site or cluster. Each activity is in this list, by its type. A new one
 * that changes a machine, a node or a record is `fenced`, and needs a request below.
 */
const FENCES = {
  open_run: 'claims',
  open_graph_run: 'claims',
  // Adds a revision, and asks a host with the secret of the site.
  fetch_source: 'fenced',
  // Marks nodes that it finds deployed.
  load_plan: 'fenced',
  prepare_node: 'fenced',
  deploy_node: 'fenced',
  release_node: 'fenced',
  abort_node: 'fenced',
  prepare_site: 'fenced',
  record_nodes: 'fenced',
  // Keeps its answers.
  run_check: 'fenced',
  take_permits: 'fenced',
  await_permits: 'fenced',
  close_run: 'fenced',
  plan_graph: 'fenced',
  record_tasks: 'fenced',
  close_graph: 'fenced',
  close_graph_run: 'fenced',
  verify_site: 'reads',
  look_at_node: 'reads',
  last_errors: 'reads',
  ask_maas: 'reads',
  inspect_nodes: 'reads',
  load_graph_part: 'reads',
  find_tried: 'reads',
  open_checks: 'fenced',
} as const satisfies Record<keyof Activities, 'claims' | 'fenced' | 'reads'>;

type Fenced = { [Name in keyof Activities]: (typeof FENCES)[Name] extends 'fenced' ? Name : never }[keyof Activities];
type Requests = { readonly [Name in Fenced]: Parameters<Activities[Name]>[0] };

const SITE = 'dc1';
const ours = { workflowId: 'deploy_site:dc1', runId: 'r1' };
/** A run whose worker died between its claim and its row, and which was reset. */
const RESET = { workflowId: 'deploy_site:dc2', runId: 'r3', executionId: 'r3-again' };
const others = { workflowId: 'deploy_site:dc1', runId: 'r2' };

let store: Store;
let activities: Activities;
let requests: Requests;
let askedMaas: number;

beforeEach(async () => {
  askedMaas = 0;
  store = await openStore('sqlite::memory:');
  await store.migrate();
  await store.sites.create({ name: SITE });
  await store.sites.addRevision(SITE, { files: [{ name: 'site.yaml', text: '' }], resolved: null });
  const { id: releaseId } = await store.releases.create({ name: 'r', version: '1', operatingSystem: 'x' });
  const { id: cluster } = await store.clusters.create({ name: 'c', releaseId });
  const deps: ActivityDependencies = {
    store,
    maas: () => ({ client: requestsOf(() => (askedMaas += 1)) }) as never,
    hold: async () => ({ paused: null, stopping: false }),
    end: async () => null,
    // Temporal reports the run that holds the claims as open.
    tried: async () => [],
    execution: async (_workflow, run) => {
      if (run === RESET.runId) return { runId: RESET.executionId, isOpen: true, children: [], errors: {} };
      return run === others.runId ? { runId: run, isOpen: true, children: [], errors: {} } : null;
    },
    searchAttributes: async () => [],
    planner: plannerHere(),
    settings: { max_parallel_nodes: 1, heartbeat_seconds: 5 },
  };
  activities = createActivities(deps);
  const { run, graphs } = await store.transactions.createRun({
    clusterId: cluster,
    graphs: [{ graphType: 'default' }],
    workflowId: ours.workflowId,
    temporalRunId: ours.runId,
  });
  await store.runs.put({
    id: ours.runId,
    sequence: 0,
    workflowId: ours.workflowId,
    temporalRunId: ours.runId,
    kind: 'deploy_site',
    phase: 'baremetal',
    site: SITE,
    startedAt: AT,
  });
  for (const subject of [{ site: SITE }, { cluster }])
    await store.claims.claim(subject, { ...others, executionId: others.runId });
  const [transaction, graph] = [run.id, graphs[0]!.id];
  const node: NodeCall = { site: SITE, revision: 1, node: 'n1', run_id: ours.runId, attempt: 1, interval: 1 };
  const permits: TakePermits = {
    subject: { site: SITE },
    run_id: ours.runId,
    site: SITE,
    work: 'deploy',
    wants: ['n1'],
  };
  const closing = { workflow_id: ours.workflowId, run_id: ours.runId, ended_at: AT };
  requests = {
    fetch_source: { site: SITE },
    load_plan: { site: SITE, kind: 'update_site' },
    prepare_node: node,
    deploy_node: node,
    release_node: node,
    abort_node: node,
    prepare_site: { site: SITE, revision: 1, pace: { timeout: 1, interval: 1 } as never },
    record_nodes: { run_id: ours.runId, site: SITE, sequence: 1, nodes: [] },
    run_check: { site: SITE, run_id: ours.runId, revision: 1, check: 'metrics' },
    take_permits: permits,
    await_permits: permits,
    close_run: {
      ...closing,
      ...{ kind: 'deploy_site', site: SITE, outcome: 'success', failed_nodes: 0, deployed_revision: 1 },
      report: {} as RunReport,
    },
    plan_graph: { transaction, graph, room: 2_500 },
    open_checks: { transaction, turn: '1.1', checks: { site: SITE, revision: 1, names: ['up'], nodes: ['n1'] } },
    record_tasks: { transaction, graph, sequence: 1, part: 0, rows: [row('a', 1, 'success')] },
    close_graph: { transaction, graph, outcome: 'success', nodes: {}, done: 0 },
    close_graph_run: { ...closing, transaction, outcome: 'success', report: graphReport({ transaction }) },
  };
});

/** A client whose every request is counted and fails. */
const requestsOf = (count: () => void): object =>
  new Proxy(
    {},
    {
      get(_target, name) {
        if (name === 'silentSince') return undefined;
        count();
        throw new Error('MAAS was asked');
      },
    },
  );

describe('every activity that changes something', () => {
  const fenced = Object.keys(FENCES).filter((name): name is Fenced => FENCES[name as Fenced] === 'fenced');

  it.each(fenced)('%s refuses an execution without the claim, before MAAS is asked', async (name) => {
    const environment = new MockActivityEnvironment(
      { workflowExecution: ours },
      { logger: new DefaultLogger('ERROR') },
    );
    const work = activities[name] as (request: unknown) => Promise<unknown>;
    await expect(environment.run(work, requests[name])).rejects.toMatchObject({
      type: 'ClaimLost',
      nonRetryable: true,
      message: expect.stringContaining('deploy_site:dc1 (run r2) holds it') as string,
    });
    expect(askedMaas).toBe(0);
  });
});

describe('an execution that has the claim of its own run', () => {
  const NAMING = [
    ...([
      'prepare_node',
      'deploy_node',
      'release_node',
      'abort_node',
      'record_nodes',
      'run_check',
      'close_run',
    ] as const),
    ...(['plan_graph', 'record_tasks', 'close_graph', 'close_graph_run'] as const),
  ];

  it.each(NAMING)('%s does nothing for another run, which the request names', async (name) => {
    const before = [await store.runs.get(ours.runId), await store.transactions.getRun(1)];
    const environment = new MockActivityEnvironment(
      { workflowExecution: others },
      { logger: new DefaultLogger('ERROR') },
    );
    const work = activities[name] as (request: unknown) => Promise<unknown>;
    await expect(environment.run(work, requests[name])).rejects.toMatchObject({
      type: 'ClaimLost',
      nonRetryable: true,
    });
    expect(askedMaas).toBe(0);
    expect([await store.runs.get(ours.runId), await store.transactions.getRun(1)]).toEqual(before);
  });
});

it.each([
  ['open_run', { site: SITE }],
  ['open_run', { site: 'nowhere' }],
  ['open_graph_run', { cluster: 1 }],
  ['open_graph_run', { cluster: 999_999 }],
] as const)('%s of %j opens and refuses no run but its own, whichever the request names', async (name, subject) => {
  const before = await store.runs.get(ours.runId);
  const run = { workflow_id: ours.workflowId, run_id: ours.runId, started_at: AT, answered: false };
  const environment = new MockActivityEnvironment(
    { workflowExecution: { workflowId: 'forged', runId: 'r9' } },
    { logger: new DefaultLogger('ERROR') },
  );
  const request = { ...run, ...subject, kind: 'test_site', parameters: {}, input: subject };
  const work = activities[name] as (request: unknown) => Promise<unknown>;
  await expect(environment.run(work, request)).rejects.toMatchObject({ type: 'ClaimLost', nonRetryable: true });
  expect(await store.runs.get(ours.runId)).toEqual(before);
  expect((await store.audit.list()).items).toEqual([]);
});

it.each([
  ['open_run', { site: 'dc2' }],
  ['open_graph_run', { cluster: 2 }],
] as const)('%s goes on where it died, also in the execution of a reset', async (name, subject) => {
  await store.sites.create({ name: 'dc2' });
  await store.sites.addRevision('dc2', { files: [{ name: 'site.yaml', text: '' }], resolved: null });
  const { id: releaseId } = await store.releases.create({ name: 'r', version: '2', operatingSystem: 'x' });
  await store.clusters.create({ name: 'second', releaseId });
  await store.claims.claim(subject, { ...RESET, executionId: RESET.runId });
  const run = { workflow_id: RESET.workflowId, run_id: RESET.runId, started_at: AT, answered: false };
  const environment = new MockActivityEnvironment(
    { workflowExecution: { workflowId: RESET.workflowId, runId: RESET.executionId } },
    { logger: new DefaultLogger('ERROR') },
  );
  const request = { ...run, ...subject, kind: 'test_site', parameters: { site: 'dc2' }, input: subject };
  const work = activities[name] as (request: unknown) => Promise<unknown>;
  expect(await environment.run(work, request)).toMatchObject({ ok: true });
  expect(await store.claims.holder(subject)).toMatchObject(RESET);
});

/** The run that is reset has the site; activities run as an execution of it. */
async function runWithSite(kind: string) {
  const { workflowId, runId, executionId } = RESET;
  const row = { id: runId, sequence: 0, workflowId, temporalRunId: runId, site: SITE, startedAt: AT } as const;
  await store.runs.put({ ...row, kind, phase: 'baremetal' });
  await store.claims.release({ site: SITE }, others);
  await store.claims.claim({ site: SITE }, { workflowId, runId, executionId: runId });
  const as = (execution: string) =>
    new MockActivityEnvironment(
      { workflowExecution: { workflowId, runId: execution } },
      { logger: new DefaultLogger('ERROR') },
    );
  return { as, workflowId, runId, executionId };
}

it('close_run leaves out what its run recorded before a reset and does not have any more', async () => {
  const { as, workflowId, runId, executionId } = await runWithSite('deploy_site');
  const record = (name: string, sequence: number) => ({
    run_id: runId,
    sequence,
    nodes: [{ report: { name, groups: [], state: 'failed' as const, reason: null, hint: null } }],
  });
  await as(runId).run(activities.record_nodes, record('gone', 7) as never);
  await as(executionId).run(activities.record_nodes, record('n1', 1) as never);
  const closing = { ...requests.close_run, workflow_id: workflowId, run_id: runId, outcome: 'failed' as const };
  const { deployed_revision: _, ...request } = { ...closing, report: { operator: [] } as never };
  await as(executionId).run(activities.close_run, request);
  expect((await store.runs.listNodes(runId)).map(({ node }) => node)).toEqual(['n1']);
});

it('close_run puts what came of the checks last into the report', async () => {
  const { as, workflowId, runId, executionId } = await runWithSite('test_site');
  const result = { verdict: 'well', text: 'HTTP 200', output: null, at: AT, runId } as const;
  const known = { checks: ['metrics'], nodes: ['n1', 'n2'] };
  for (const ms of [1, 2_500]) await store.checkResults.add(SITE, 'metrics', [{ ...result, node: 'n1', ms }], known);
  await store.checkResults.add(SITE, 'metrics', [{ ...result, node: 'n2', ms: 4, runId: 'other' }], known);
  const { deployed_revision: _, ...rest } = requests.close_run;
  const closing = { ...rest, workflow_id: workflowId, run_id: runId, report: { operator: [] } };
  await as(executionId).run(activities.close_run, closing as never);
  expect((await store.runs.getReport(runId)) as unknown).toMatchObject({
    check_results: [{ check: 'metrics', node: 'n1', seconds: 2.5, run: runId }],
  });
});

it('close_run ends a run that another execution of it has closed as closed: the store keeps its one end', async () => {
  const { as, workflowId, runId, executionId } = await runWithSite('test_site');
  const { deployed_revision: _, ...rest } = requests.close_run;
  const closing = { ...rest, workflow_id: workflowId, run_id: runId, outcome: 'failed', report: { operator: [] } };
  await as(runId).run(activities.close_run, closing as never);
  // Its own try that lost the answer.
  await as(executionId).run(activities.close_run, closing as never);
  const again = { ...closing, outcome: 'stopped', ended_at: '2026-11-20T11:00:00.001Z' };
  await expect(as(executionId).run(activities.close_run, again as never)).rejects.toMatchObject({ type: 'ClaimLost' });
  expect(await store.runs.get(runId)).toMatchObject({ outcome: 'failed' });
});

it.each([
  ['record_nodes', { site: SITE }, {}],
  ['close_run', { site: SITE }, {}],
  ['close_graph_run', { cluster: 1 }, { transaction: 99 }],
  // The number of its transaction is another run's now.
  ['close_graph_run', { cluster: 1 }, {}],
] as const)(
  '%s of a run of which a restored store has only the claim gives that back',
  async (name, subject, named) => {
    const forgotten = { workflowId: 'deploy_site:dc1', runId: 'r4' };
    await store.claims.release(subject, others);
    await store.claims.claim(subject, { ...forgotten, executionId: forgotten.runId });
    const environment = new MockActivityEnvironment(
      { workflowExecution: forgotten },
      { logger: new DefaultLogger('ERROR') },
    );
    const work = activities[name] as (request: unknown) => Promise<unknown>;
    const request = { ...requests[name], run_id: forgotten.runId, ...named };
    await expect(environment.run(work, request)).rejects.toMatchObject({ type: 'ClaimLost', nonRetryable: true });
    expect(await store.claims.holder(subject)).toBeNull();
  },
);

describe('a step that has the claim, before its first change', () => {
  const claim = { ...ours, executionId: ours.runId, generation: 1, claimedAt: AT };
  const asked = (hold: Gate['hold']) => {
    const gate = { store: { claims: { holder: async () => claim } }, execution: async () => null, hold } as never;
    const environment = new MockActivityEnvironment(
      { workflowExecution: ours },
      { logger: new DefaultLogger('ERROR') },
    );
    return environment.run(() => assertMayStart(gate, { site: SITE }));
  };

  it('may change machines for ten seconds after it began to prove that, and before not at all', async () => {
    const gate = { store: { claims: { holder: async () => claim } }, execution: async () => null };
    const environment = new MockActivityEnvironment(
      { workflowExecution: ours },
      { logger: new DefaultLogger('ERROR') },
    );
    const asked = Date.now();
    const until: unknown = await environment.run(async () => {
      const before = mayChangeUntil();
      await proveClaim(gate as never, { site: SITE });
      return [before, mayChangeUntil()];
    });
    const now = Date.now();
    const isInTime = (at: number): boolean => at >= asked + 10_000 && at <= now + 10_000;
    expect(until).toEqual([Number.NEGATIVE_INFINITY, expect.toSatisfy(isInTime)]);
    expect(mayChangeUntil()).toBeUndefined();
  });

  it('waits while its run is paused, and while that is unknown', async () => {
    const waits = { type: 'RunHeld', nonRetryable: false };
    await expect(asked(async () => ({ paused: { since: 'noon' }, stopping: false }))).rejects.toMatchObject(waits);
    await expect(asked(() => Promise.reject(new Error('no worker')))).rejects.toMatchObject(waits);
    await expect(asked(async () => ({ paused: null, stopping: false }))).resolves.toBeUndefined();
  });

  it('is not started when its run is stopped, paused or not', async () => {
    for (const paused of [null, { since: 'noon' }])
      await expect(asked(async () => ({ paused, stopping: true }))).rejects.toMatchObject({
        type: 'RunStopped',
        nonRetryable: true,
      });
  });
});
