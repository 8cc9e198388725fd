import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TakePermits } from '../../activities/contract.ts';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import type { Group } from '../../src/core/deployment/strategy.ts';
import type { PermitAnswer, PermitWait } from '../../src/core/permits/answer.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookAgain } from '../rig/look-again.ts';
import { type ScriptedGraphOptions, scriptedGraph } from '../rig/scripted-graph.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { failure, group, plainNodes, type ScriptedSite, scriptedSite, untilCancelled } from '../rig/scripted-site.ts';
import { reaches, startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5'];
const WAIT: PermitWait = {
  ...{ kind: 'out_of_service', limit: 'at most 2 machines of the site out of service', machines: 5 },
  ...{ behind: ['n9: run 7'], since: '2026-11-28T12:00:00.000Z' },
};

// biome-ignore lint/suspicious/noThenProperty: the word of the document
const ALL_THEN = { then: 'all' } as const;

const BARRIER = { before: ['net@1', 'net@2', 'net@3'], after: ['db@1', 'db@2', 'db@3'] };

interface Permits {
  readonly asked: TakePermits[];
  readonly held: Set<string>;
  places: number;
  /** The most that were held at a time. */
  most: number;
  take(request: TakePermits): PermitAnswer;
}

function permitsOf(places: number): Permits {
  const permits: Permits = {
    ...{ asked: [], held: new Set<string>(), places, most: 0 },
    take(request) {
      const { asked, held } = permits;
      const { wants, done = [], failed = [], unused = [] } = request;
      asked.push(request);
      for (const id of [...done, ...failed, ...unused]) held.delete(id);
      const granted = wants.filter((id) => held.has(id) || (held.size < permits.places && held.add(id)));
      permits.most = Math.max(permits.most, held.size);
      return { granted, waits: granted.length < wants.length ? [WAIT] : [] };
    },
  };
  return permits;
}

type Limited = Permits & { readonly site: ScriptedSite };

/** One group of five nodes, of which as many may be touched as there are places. */
function limited(more: Partial<Group> = {}): Limited {
  const site = scriptedSite({ groups: [group('workers', NAMES, more)] }, plainNodes(...NAMES), {
    limits: { at_a_time: 2 },
  });
  const permits = permitsOf(2);
  site.overrides.take_permits = async (request) => permits.take(request);
  site.overrides.await_permits = async (request) => {
    const answer = permits.take(request);
    return answer.granted.length > 0 ? answer : untilCancelled();
  };
  return Object.assign(permits, { site });
}

const start = ({ site }: Limited, input: object = {}) =>
  startRun(rig, site, 'deploy_site', [{ site: 'dc1', ...input }]);
const isWaiting = ({ waits }: RunStatus): boolean => waits !== undefined;

/** The nodes of each call that began, in order. */
const callsOf = ({ site: { began } }: Limited): string[] => {
  const calls: string[][] = [];
  for (const one of began) {
    const [verb, node] = one.split(':') as [string, string];
    if (calls.at(-1)?.[0] === verb) calls.at(-1)!.push(node);
    else calls.push([verb, node]);
  }
  return calls.map(([verb, ...nodes]) => `${verb} ${nodes.sort().join(' ')}`);
};

describe('a run of graphs on machines with limits', () => {
  const names = ['1', '2', '3'];
  const tasks = ['net', 'db'].flatMap((id) => names.map((node) => ({ id, node, type: 'puppet' })));
  /** Each node is done before it gives its permit back, but for `db`, which waits for `net` on all. */
  const plan = { nodes: names.map((id) => ({ id, kind: 'node' as const })), tasks, edges: [], joins: [] };

  it.each<[string, Pick<ScriptedGraphOptions, 'partOf'>, string]>([
    ['in one workflow', {}, 'execute_graph--permits'],
    ['in parts', { partOf: (id) => (id === '3' ? 1 : 0) }, 'execute_graph--permits-in-parts'],
  ])('touches one machine at a time, if there is one permit, %s', async (_, shape, name) => {
    const graph = scriptedGraph({ plans: { default: { ...plan, joins: [BARRIER] } }, isLimited: true, ...shape });
    const permits = permitsOf(1);
    graph.overrides.take_permits = async (request) => permits.take(request);
    graph.overrides.await_permits = async (request) => {
      for (;;) {
        const answer = permits.take(request);
        if (answer.granted.length > 0) return answer;
        Context.current().heartbeat();
        await Promise.race([Context.current().cancelled, lookAgain()]);
      }
    };
    const run = await startGraphRun(rig, graph);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(permits.most).toBe(1);
    expect(permits.held).toEqual(new Set());
    expect(graph.began.slice(0, 3).sort()).toEqual(['net@1', 'net@2', 'net@3']);
    expect(permits.asked[0]).toMatchObject({ subject: { cluster: 1 }, work: 'tasks' });
    await recordHistory(run.handle, name);
    if (shape.partOf)
      await recordHistory(rig.client.workflow.getHandle(`${run.handle.workflowId}/11.1`), 'run_graph_part--permits');
  });
});

describe('a run of graphs whose wait for permits is overtaken by its own requests', () => {
  const plan = {
    ...{ nodes: ['1', '2', '3', '4'].map((id) => ({ id, kind: 'node' as const })), joins: [] },
    tasks: ['1', '2', '3', '4'].map((node) => ({ id: 'net', node, type: 'puppet' })),
    edges: [['net@2', 'net@4']] as const,
  };

  it('gives back what it was granted for nodes that it wants no more', async () => {
    const graph = scriptedGraph({ plans: { default: plan }, isLimited: true });
    const { asked, held, take } = permitsOf(1);
    graph.overrides.take_permits = async (request) => take(request);
    graph.overrides.await_permits = async (request) => {
      await untilCancelled().catch(() => undefined);
      for (; held.size > 0; await lookAgain()) Context.current().heartbeat();
      return take({ ...request, wants: request.wants.slice(0, 1) });
    };
    const input = { cluster: 1, override_limits: 'the fans are out' };
    const { result } = await (await startGraphRun(rig, graph, [input])).ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(asked.every(({ overrides }) => overrides === true)).toBe(true);
    expect(graph.closed[0]!.report.overridden).toEqual({ limits: 'the fans are out' });
    expect(held).toEqual(new Set());
  });

  it('waits for the nodes that it wants now', async () => {
    const graph = scriptedGraph({ plans: { default: plan }, isLimited: true });
    const take = ({ wants }: TakePermits): PermitAnswer => ({
      granted: wants.filter((id) => id === '2'),
      waits: [WAIT],
    });
    graph.overrides.take_permits = async (request) => take(request);
    graph.overrides.await_permits = async ({ wants }) =>
      wants.includes('4') ? { granted: wants, waits: [] } : untilCancelled();
    const { result } = await (await startGraphRun(rig, graph)).ended();
    expect(result).toMatchObject({ outcome: 'success' });
  });
});

describe('a run on a site with limits', () => {
  it('touches only machines for which it has a permit, and gives each back when it serves again or is broken', async () => {
    const of = limited({ success_criteria: { percent_successful_nodes: 80 } });
    of.site.results.set('deploy:n3', failure());
    const run = await start(of);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures', nodes: { success: 4, failed: 1 } });
    expect(callsOf(of)).toEqual([
      ...['prepare n1 n2', 'deploy n1 n2', 'prepare n3 n4', 'deploy n3 n4', 'prepare n5', 'deploy n5'],
    ]);
    const returned = of.asked.map(({ wants, done, failed }) => ({ wants: wants.length, done, failed }));
    expect(returned).toEqual([
      { wants: 5, done: [], failed: [] },
      { wants: 3, done: ['n1', 'n2'], failed: [] },
      { wants: 1, done: ['n4'], failed: ['n3'] },
      { wants: 0, done: ['n5'], failed: [] },
    ]);
    expect(of.held.size).toBe(0);
    await recordHistory(run.handle, 'deploy_site--permits');
  });

  it('touches no more machines once the criteria of their group cannot be met', async () => {
    const of = limited({ success_criteria: { percent_successful_nodes: 90 } });
    of.site.results.set('prepare:n1', failure());
    const { result } = await (await start(of)).ended();
    expect(result).toMatchObject({ nodes: { success: 0, failed: 1 } });
    expect(callsOf(of)).toEqual(['prepare n1 n2']);
    expect(of.asked.at(-1)).toMatchObject({ wants: [], failed: ['n1', 'n2'] });
  });

  it('goes by the waves of a rollout, and by permits within them', async () => {
    const of = limited({ rollout: { first: 1, ...ALL_THEN } });
    await (await start(of)).ended();
    expect(callsOf(of)).toEqual([
      ...['prepare n1', 'deploy n1', 'prepare n2 n3', 'deploy n2 n3', 'prepare n4 n5', 'deploy n4 n5'],
    ]);
    expect(of.asked.map(({ wants }) => wants.length)).toEqual([1, 4, 2, 0]);
  });

  it('starts nothing but what an operator retries while its rollout is at its limit', async () => {
    const of = limited({ rollout: { first: 2, ...ALL_THEN }, success_criteria: { percent_successful_nodes: 100 } });
    of.site.results.set('prepare:n1', failure());
    const run = await start(of);
    await reaches(run, ({ groups }) => groups[0]?.rollout?.state === 'held');
    of.site.results.delete('prepare:n1');
    await run.handle.executeUpdate('retry_node', { args: [{ node: 'n1' }] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    // n2 is prepared, and deployed when n1 is well: with a permit again, which the run gives back.
    expect(of.site.began.slice(2, 5)).toEqual(['prepare:n1', 'deploy:n1', 'deploy:n2']);
    expect(of.asked.filter(({ wants }) => wants.includes('n2'))).toHaveLength(2);
    expect(of.asked.flatMap(({ done }) => done)).toContain('n2');
    expect([of.most, of.held]).toEqual([2, new Set()]);
  });

  it('shows what it waits for, holds nothing while it does, and goes on after a pause', async () => {
    const of = limited();
    of.places = 0;
    const run = await start(of);
    const status = await reaches(run, isWaiting);
    expect(status.waits).toEqual([WAIT]);
    await run.handle.executeUpdate('pause', { args: [{ by: 'nina' }] });
    await reaches(run, ({ paused, waits }) => paused !== null && waits === undefined);
    of.places = 5;
    expect(of.site.began).toEqual([]);
    await run.handle.executeUpdate('resume', { args: [{}] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    await recordHistory(run.handle, 'deploy_site--permits-awaited');
  });

  it('stops while it waits', async () => {
    const of = limited();
    of.places = 0;
    const run = await start(of);
    await reaches(run, isWaiting);
    await run.handle.signal('stop', {});
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'stopped' });
    expect(of.site.began).toEqual([]);
  });

  it('redeploys as many machines at a time as it has permits for, and none that could not be released', async () => {
    const of = limited({ critical: true, success_criteria: { percent_successful_nodes: 100 } });
    of.site.results.set('release:n2', failure('in-use', 'someone has it'));
    const input = { site: 'dc1', nodes: NAMES };
    await (await startRun(rig, of.site, 'redeploy_nodes', [input])).ended().catch(() => undefined);
    expect(callsOf(of)).toEqual(['release n1 n2', 'prepare n1']);
    const [closed] = of.site.closed;
    expect(closed).toMatchObject({ outcome: 'failed', failed_nodes: 1 });
    expect(closed?.report.released?.map(({ name, state }) => [name, state])).toEqual([
      ['n1', 'success'],
      ['n2', 'failed'],
    ]);

    const good = limited();
    const run = await startRun(rig, good.site, 'redeploy_nodes', [input]);
    expect((await run.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    expect(callsOf(good).slice(0, 6)).toEqual([
      ...['release n1 n2', 'prepare n1 n2', 'deploy n1 n2', 'release n3 n4', 'prepare n3 n4', 'deploy n3 n4'],
    ]);
  });

  it('says that someone lets it go beyond the limits', async () => {
    const of = limited();
    of.places = 5;
    await (await start(of, { override_limits: 'the fans are out' })).ended();
    expect(of.asked.map(({ overrides }) => overrides)).toEqual([true, true]);
  });
});
