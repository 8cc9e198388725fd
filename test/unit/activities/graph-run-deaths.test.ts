import { describe, expect, it } from 'vitest';
import { closeGone } from '../../../src/runs/life.ts';
import { graphWorld, planOf, row } from './graph-world.ts';

const shell = (id: string, more: object = {}) => ({
  id,
  type: 'shell',
  version: '2.1.0',
  roles: ['compute'],
  parameters: { cmd: id },
  ...more,
});

/** A world that dies once, at its n-th call on the store; the caller retries, as Temporal does. */
async function mortalWorld() {
  const life = { calls: 0, diesAt: Number.POSITIVE_INFINITY, deaths: 0 };
  const world = await graphWorld({
    nodes: [['compute'], ['compute']],
    onCall: (call) => {
      if (++life.calls !== life.diesAt) return;
      life.deaths += 1;
      throw new Error(`killed before ${call}`);
    },
  });
  await world.upload([shell('a'), shell('b', { requires: ['a'] })]);
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('killed')) throw error;
      return await work();
    }
  };
  return { world, life, again };
}

/** One complete run; returns the content of the store afterwards. */
async function wholeRun(diesAt: number) {
  const { world, life, again } = await mortalWorld();
  life.diesAt = diesAt;
  const [one, two] = world.nodes as [number, number];
  const started = await again(() => world.start());
  const graph = started.graphs[0]!.transaction;
  const plan = planOf(await again(() => world.plan_graph({ transaction: started.transaction, graph, room: 2_500 })));
  const of = { transaction: started.transaction, graph, part: 0 };
  const rows = ['a', 'b'].flatMap((task) => [one, two].map((node) => row(task, node, 'success')));
  await again(() => world.record_tasks({ ...of, sequence: 1, rows }));
  const nodes = { [one]: 'success' as const, [two]: 'success' as const };
  await again(() => world.close_graph({ transaction: started.transaction, graph, outcome: 'success', nodes, done: 0 }));
  await again(() => world.close(started));
  const { run, graphs } = await world.store.transactions.getRun(started.transaction);
  const history = await world.store.taskHistory.list(graph);
  const { cluster } = world;
  return {
    calls: life.calls,
    deaths: life.deaths,
    stored: {
      plan,
      run: run.status,
      graphs: graphs.map(({ status, planHash }) => [status, planHash]),
      runs: (await world.store.transactions.list({ clusterId: cluster })).length,
      history: history.map(({ task, node, status, attempts }) => [task, node, status, attempts]),
      nodes: (await world.store.nodes.list({ clusterId: cluster })).map(({ status, roles, progress }) => [
        status,
        roles,
        progress,
      ]),
      cluster: (await world.store.clusters.brief(cluster)).status,
      states: (await world.store.taskStates.read(cluster)).tasks.map(({ task, node }) => [task, node]),
      holder: await world.store.claims.holder({ cluster }),
      outcome: (await world.store.runs.get('run-1')).outcome,
    },
  };
}

describe('a process that dies anywhere in a run', () => {
  it('does not change how the run ends', { timeout: 180_000 }, async () => {
    const undisturbed = await wholeRun(Number.POSITIVE_INFINITY);
    expect(undisturbed.stored).toMatchObject({
      run: 'success',
      cluster: 'operational',
      holder: null,
      outcome: 'success',
    });
    expect(undisturbed.calls).toBeGreaterThan(30);
    for (let at = 1; at <= undisturbed.calls; at++) {
      const { deaths, stored } = await wholeRun(at);
      expect([at, deaths]).toEqual([at, 1]);
      expect([at, stored]).toEqual([at, undisturbed.stored]);
    }
  });

  it('and does not come back, closes the run with its transaction or leaves both open', async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { world, life } = await mortalWorld();
      const started = await world.start();
      for (const node of world.nodes) await world.store.nodes.update(node, { status: 'ready' });
      life.calls = 0;
      life.diesAt = at;
      await world.close(started).catch(() => undefined);
      isOver = life.deaths === 0;
      const { run } = await world.store.transactions.getRun(started.transaction);
      const { outcome } = await world.store.runs.get('run-1');
      const { status } = await world.store.clusters.brief(world.cluster);
      const holder = await world.store.claims.holder({ cluster: world.cluster });
      const seen = [at, run.status, outcome, status === 'operational', holder === null];
      const open = [at, 'running', null, false, false];
      expect([open, [at, 'success', 'success', true, true]]).toContainEqual(seen);
      if (isOver) expect(outcome).toBe('success');
    }
  });

  it('and does not come back, closes a run that was terminated with its transaction or leaves both open', async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { world, life } = await mortalWorld();
      const started = await world.start();
      life.calls = 0;
      life.diesAt = at;
      const end = { outcome: 'terminated', at: new Date() } as const;
      await closeGone({ store: world.heard, end: async () => end }).catch(() => undefined);
      isOver = life.deaths === 0;
      const { run } = await world.store.transactions.getRun(started.transaction);
      const { outcome } = await world.store.runs.get('run-1');
      expect([
        [at, 'running', null],
        [at, 'terminated', 'terminated'],
      ]).toContainEqual([at, run.status, outcome]);
      if (isOver) expect(outcome).toBe('terminated');
    }
  });

  it('opens a run again, after a reset, with the claim that it takes over or not at all', async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { world, life } = await mortalWorld();
      const started = await world.start();
      const end = { outcome: 'terminated', at: new Date() } as const;
      await closeGone({ store: world.store, end: async () => end });
      world.reset('run-1');
      life.calls = 0;
      life.diesAt = at;
      const request = { transaction: started.transaction, graph: started.graphs[0]!.transaction, part: 0 };
      await world.record_tasks({ ...request, sequence: 1, rows: [] }).catch(() => undefined);
      isOver = life.deaths === 0;
      const { outcome } = await world.store.runs.get('run-1');
      const holder = await world.store.claims.holder({ cluster: world.cluster });
      expect([at, outcome]).toEqual([at, holder?.executionId === 'run-1' ? 'terminated' : null]);
      if (isOver) expect(outcome).toBeNull();
    }
  });
});
