import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrderRefused } from '../../src/agent/index.ts';
import { controlQueue, nodeQueue } from '../../workflows/protocol.ts';
import { AgentSite, askedAgain, eventually } from '../rig/agent-site.ts';
import { cancelTasks } from '../rig/workflows/counted-tasks.ts';

let site: AgentSite;
beforeAll(async () => {
  site = await AgentSite.open();
});
afterAll(() => site.close());

describe('agents in one process', () => {
  it('100 nodes run their tasks, and none is late', async () => {
    const nodes = site.names(100).map((name) => `many-${name}`);
    const agents = await site.agents(nodes);
    const run = await site.start({ nodes: site.queues(nodes), tasks: ['a'], type: 'noop' });
    const ends = Object.values(await run.result());
    expect(ends).toHaveLength(100);
    expect(new Set(ends.map(({ outcome }) => outcome))).toEqual(new Set(['skipped']));
    await agents.stop();
  });

  it('a task runs once, its result is complete, and its output is in the log store', async () => {
    site.script('fails', 'echo out; echo "no luck today" >&2; exit 3');
    await site.agents(['plain']);
    const run = await site.start({ nodes: site.queues(['plain']), tasks: ['works', 'fails'] });
    const ends = await run.result();
    expect(ends['works@plain']).toMatchObject({ outcome: 'success', exit_code: 0, tries: 1 });
    expect(ends['fails@plain']).toMatchObject({
      outcome: 'failed',
      exit_code: 3,
      message: expect.stringMatching(/ 3: no luck today$/),
    });
    expect(site.counted('plain')).toEqual(['works', 'fails']);
    expect(await site.logged('works', 'plain')).toBe('did works\n');
    expect(await site.logged('fails', 'plain', 'stderr')).toBe('no luck today\n');
    expect(site.logs.result({ run: 'r1', task: 'fails', node: 'plain', generation: 1 })?.outcome).toBe('failed');
  });

  it('a slow node delays only itself', async () => {
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const orders = site.orders();
    const held = {
      ...orders,
      fetch: async (key: Parameters<typeof orders.fetch>[0]) => {
        await slow;
        return orders.fetch(key);
      },
    };
    await site.agents(['slow'], { orders: held });
    await site.agents(['quick1', 'quick2']);
    const behind = await site.start({ nodes: site.queues(['slow']), tasks: ['a', 'b'] });
    const others = await site.start({ nodes: site.queues(['quick1', 'quick2']), tasks: ['a', 'b'] });
    const ends = await others.result();
    expect(Object.values(ends).map(({ outcome }) => outcome)).toEqual(['success', 'success', 'success', 'success']);
    expect(site.counted('slow')).toEqual([]);
    release();
    await behind.result();
    expect(site.counted('slow')).toEqual(['a', 'b']);
  });
});

describe('the dependencies of an agent', () => {
  it('unavailable orders are requested again, and the task runs once', async () => {
    const orders = site.orders();
    let asked = 0;
    await site.agents(['away'], {
      orders: {
        ...orders,
        fetch: async (key) => {
          asked += 1;
          if (asked < 3) throw new Error('the gateway is away');
          return orders.fetch(key);
        },
      },
    });
    const run = await site.start({ nodes: site.queues(['away']), tasks: ['a'] });
    expect((await run.result())['a@away']).toMatchObject({ outcome: 'success' });
    expect(asked).toBe(3);
    expect(site.counted('away')).toEqual(['a']);
  });

  it('a task whose order stays unavailable ends after its time limit as unknown', async () => {
    await site.agents(['deserted'], {
      orders: site.orders({ fetch: async () => Promise.reject(new Error('the gateway is away')) }),
    });
    const run = await site.start({ nodes: site.queues(['deserted']), tasks: ['a'], startToCloseMs: 1_000 });
    expect((await run.result())['a@deserted']).toEqual({
      outcome: 'lost',
      message: 'its agent cannot carry it out or follow it: the gateway is away',
    });
  });

  it('an order that does not exist, or is not trusted, is rejected and nothing is done', async () => {
    const refusing = site.orders({ fetch: async () => Promise.reject(new OrderRefused('there is no such order')) });
    await site.agents(['none'], { orders: refusing });
    await site.agents(['doubting'], { verify: () => 'the signature of the order is wrong' });
    const run = await site.start({ nodes: site.queues(['none', 'doubting']), tasks: ['a'] });
    expect(await run.result()).toEqual({
      'a@none': { outcome: 'refused', message: 'was not run: there is no such order' },
      'a@doubting': { outcome: 'refused', message: 'was not run: the signature of the order is wrong' },
    });
    expect([site.counted('none'), site.counted('doubting')]).toEqual([[], []]);
  });

  it('an order for another task than the requested one is rejected', async () => {
    const orders = site.orders();
    await site.agents(['crossed'], { orders: { ...orders, fetch: (key) => orders.fetch({ ...key, task: 'other' }) } });
    const run = await site.start({ nodes: site.queues(['crossed']), tasks: ['a'] });
    expect((await run.result())['a@crossed']).toMatchObject({ outcome: 'refused' });
    expect(site.counted('crossed')).toEqual([]);
  });

  it('a log store that is unavailable for a while gets everything; one that stays unavailable does not block the run', async () => {
    const orders = site.orders();
    let failed = 0;
    const ship: typeof orders.ship = async (key, chunk) => {
      failed += 1;
      if (failed < 3) throw new Error('no answer');
      return orders.ship(key, chunk);
    };
    await site.agents(['patchy'], { orders: { ...orders, ship } });
    await site.agents(['deaf'], {
      orders: { ...orders, ship: async () => Promise.reject(new Error('no answer')) },
      logPatienceMs: 1,
    });
    const run = await site.start({ nodes: site.queues(['patchy', 'deaf']), tasks: ['a'] });
    const ends = await run.result();
    expect(ends['a@patchy']).toMatchObject({ outcome: 'success' });
    expect(ends['a@patchy']!.message).toBeUndefined();
    expect(await site.logged('a', 'patchy')).toBe('did a\n');
    expect(ends['a@deaf']).toMatchObject({ outcome: 'success', message: 'its output is on the node only: no answer' });
  });
});

describe('cancelling', () => {
  it('before the order arrives runs nothing', async () => {
    let asked: () => void = () => undefined;
    let release: () => void = () => undefined;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const answer = new Promise<void>((resolve) => {
      release = resolve;
    });
    const orders = site.orders();
    await site.agents(['early'], {
      orders: {
        ...orders,
        fetch: async (key) => {
          asked();
          await answer;
          return orders.fetch(key);
        },
      },
    });
    const run = await site.start({ nodes: site.queues(['early']), tasks: ['a'] });
    await wasAsked;
    await run.signal(cancelTasks);
    await eventually(() => existsSync(`${site.stateDir}/nodes/early/runs/r1/a/1/cancel.json`));
    release();
    expect((await run.result())['a@early']).toMatchObject({ outcome: 'cancelled' });
    expect(site.counted('early')).toEqual([]);
  });

  it('a running task twice ends it with all its processes', async () => {
    const gate = site.gate('endless');
    await site.agents(['busy']);
    const run = await site.start({ nodes: site.queues(['busy']), tasks: ['endless', 'next'] });
    await gate.started();
    await run.signal(cancelTasks);
    await run.signal(cancelTasks);
    const ends = await run.result();
    expect(ends['endless@busy']).toMatchObject({ outcome: 'cancelled' });
    expect(ends['next@busy']).toMatchObject({ outcome: 'cancelled', message: 'before it started' });
    expect(site.counted('busy')).toEqual(['endless']);
    expect(await site.logged('endless', 'busy')).toBe('before\n');
  });
});

it('an agent that was killed returns its attempt when it starts again, long before the limit of its heartbeats', async () => {
  const gate = site.gate('orphaned');
  const killed = await site.host(['dead']);
  const slow = { heartbeatMs: 600_000, scheduleToStartMs: 600_000 };
  const run = await site.start({ nodes: site.queues(['dead']), tasks: ['orphaned', 'more'], ...slow });
  await gate.started();
  await killed.kill();
  const next = await site.host(['dead']);
  await askedAgain(run);
  gate.open();
  expect(Object.values(await run.result()).map(({ outcome }) => outcome)).toEqual(['success', 'success']);
  expect(site.counted('dead')).toEqual(['orphaned', 'more']);
  expect(await site.logged('orphaned', 'dead')).toBe('before\nafter\n');
  // The attempt that it last noted has ended: another start returns nothing.
  await next.kill();
  await site.host(['dead']);
  const later = await site.start({ run: 'r2', nodes: site.queues(['dead']), tasks: ['last'], ...slow });
  expect((await later.result())['last@dead']).toMatchObject({ outcome: 'success' });
});

describe('ping and drain', () => {
  it('a drained agent leaves its task to the supervisor, and a new version follows it to the end', async () => {
    const gate = site.gate('upgraded');
    const old = await site.agents(['up'], { version: '1.0' });
    const run = await site.start({ nodes: site.queues(['up']), tasks: ['upgraded', 'more'] });
    await gate.started();
    const control = controlQueue(nodeQueue(site.site, 'up'));
    const before = await site.control('ping', control, 'up');
    expect(before).toMatchObject({ node: 'up', agent_version: '1.0' });
    expect(await site.control('drain', control, 'up')).toEqual({ unfinished: ['r1/upgraded/1'] });
    await old.done;
    await site.agents(['up'], { version: '1.1' });
    expect(await site.control('ping', control, 'up')).toMatchObject({ agent_version: '1.1' });
    gate.open();
    const ends = await run.result();
    expect(Object.values(ends).map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    expect(site.counted('up')).toEqual(['upgraded', 'more']);
    expect(await site.logged('upgraded', 'up')).toBe('before\nafter\n');
  });
});
