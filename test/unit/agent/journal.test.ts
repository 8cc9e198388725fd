import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { carryOutOrder } from '../../../src/agent/index.ts';
import type { Execution } from '../../../src/agent/journal/execution.ts';
import { AgentRig } from '../../rig/agent.ts';
import { Gate } from '../../rig/gate.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

const away = async () => Promise.reject(new Error('the gateway is away'));

/** Carries out an execution as the order of a plan; returns its outcome and the alarms. */
async function carryOut(
  execution: Execution,
  plan: string,
  { cancel, ...more }: { fetch?: () => Promise<{ execution: Execution }>; cancel?: AbortSignal } = {},
) {
  const { run, task, node, generation, type, mode = 'apply' } = execution;
  const alarms: string[] = [];
  const never = new AbortController().signal;
  const end = await carryOutOrder(
    { run, task, node, generation, plan, type, mode },
    {
      agent,
      orders: { fetch: async () => ({ execution }), secret: away, source: away, ship: async () => undefined, ...more },
      alarm: async (kind) => void alarms.push(kind),
      onProgress: () => undefined,
      cancel: cancel ?? never,
      leave: never,
    },
  );
  return { end, alarms };
}

const counting = (file: string, more: Partial<Execution> = {}): Execution =>
  rig.task('shell', { cmd: `echo ran >> ${rig.path(file)}`, retries: 0 }, more);
const runs = (file: string): number => readFileSync(rig.path(file), 'utf8').split('\n').length - 1;
const ended = { end: { kind: 'ended', result: { outcome: 'success' } }, alarms: [] };
const refused = { end: { kind: 'refused', reason: expect.stringContaining('another order') }, alarms: ['other-order'] };

describe('work that the journal records as done', () => {
  const again = (task: Execution, more: Partial<Execution>) => carryOut({ ...task, ...more }, 'p2');

  it('is not repeated by a retry, whatever the run believed of the previous attempt', async () => {
    const task = counting('retried');
    await carryOut(task, 'p1');
    expect(await again(task, { generation: 2 })).toMatchObject({
      end: { kind: 'ended', result: { outcome: 'success' }, before: { generation: 1 } },
    });
    expect(await again(task, { generation: 3 })).toMatchObject({ end: { before: { generation: 1 } } });
    expect(runs('retried')).toBe(1);
  });

  it('is not repeated by a run that continues the one that did it; its newest attempt counts', async () => {
    const task = counting('continued');
    await carryOut({ ...task, run: 'older' }, 'p1');
    agent.cancel({ ...task, run: 'newer' }, 'stopped');
    await carryOut({ ...task, run: 'newer' }, 'p1');
    expect(await again(task, { run: 'newest', earlier: ['newer', 'unknown', 'older'] })).toMatchObject({
      end: { kind: 'ended', before: { run: 'older', generation: 1 } },
    });
    expect(runs('continued')).toBe(1);
    expect(await again(task, { run: 'other' })).toMatchObject(ended);
    expect(await again(task, { run: 'rehearsed', mode: 'noop', earlier: ['older'] })).toMatchObject({
      end: { result: { outcome: 'skipped' } },
    });
    expect(runs('continued')).toBe(2);
  });

  it('if it still runs, makes a retry wait for it, and can be cancelled', async () => {
    const gate = new Gate(rig.path('running'));
    const task = rig.task('shell', { cmd: `read -r line < ${gate.path}`, retries: 0 });
    await agent.ensure(task);
    const retried = again(task, { generation: 2 });
    await gate.open();
    expect(await retried).toMatchObject({
      end: { kind: 'ended', result: { outcome: 'success' }, before: { generation: 1 } },
    });
    const endless = rig.task('shell', { cmd: 'sleep 600', retries: 0 }, { killGraceSec: 1 });
    await agent.ensure(endless);
    const cancelled = carryOut({ ...endless, generation: 2 }, 'p', { cancel: AbortSignal.timeout(10) });
    expect(await cancelled).toMatchObject({ end: { kind: 'ended', result: { outcome: 'cancelled' } } });
    expect(await agent.result(endless)).toMatchObject({ outcome: 'cancelled' });
  });

  it('is not waited for if it never began, as its agent died before', async () => {
    const task = counting('fresh');
    await expect(rig.agent({ supervisorCommand: ['false'] }).ensure(task)).rejects.toThrow();
    expect(await again(task, { generation: 2 })).toMatchObject(ended);
    expect(runs('fresh')).toBe(1);
    expect(await agent.result(task)).toMatchObject({ outcome: 'cancelled', tries: [] });
  });

  it('is not mixed up with failures, which are run again', async () => {
    const task = rig.task('shell', { cmd: `echo ran >> ${rig.path('failing')}; exit 3`, retries: 0 });
    await carryOut(task, 'p1');
    expect(await again(task, { generation: 2 })).toMatchObject({ end: { result: { outcome: 'failed' } } });
    expect(runs('failing')).toBe(2);
  });
});

describe('answers from the journal', () => {
  it('are given for the order of their plan, also while the source of orders is unreachable', async () => {
    const task = counting('same');
    expect(await carryOut(task, 'p1')).toMatchObject(ended);
    expect(await carryOut(task, 'p1', { fetch: away })).toMatchObject(ended);
    expect(runs('same')).toBe(1);
  });

  it('are given for the same order in another plan, after a check of that order', async () => {
    const task = counting('replanned');
    await carryOut(task, 'p1');
    expect(await carryOut(task, 'p2')).toMatchObject(ended);
    await expect(carryOut(task, 'p2', { fetch: away })).rejects.toThrow('the gateway is away');
    expect(runs('replanned')).toBe(1);
  });

  it('are never given for another order, which is refused with an alarm and not run', async () => {
    const task = counting('other');
    await carryOut(task, 'p1');
    const other = { ...task, parameters: { ...task.parameters, cmd: `echo other >> ${rig.path('other')}` } };
    expect(await carryOut(other, 'p2')).toMatchObject(refused);
    expect(await carryOut({ ...task, mode: 'noop' }, 'p1')).toMatchObject(refused);
    expect(runs('other')).toBe(1);
  });
});
