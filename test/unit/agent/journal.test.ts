import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Execution, executionFolder, stableJson } from '../../../src/agent/execution.js';
import { carryOutOrder } from '../../../src/agent/index.js';
import { AgentRig } from '../../rig/agent.js';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

const away = async () => Promise.reject(new Error('the gateway is away'));

/** Carries out an execution as the order of a plan; what it ended with, and the alarms. */
async function carryOut(
  execution: Execution,
  plan: string,
  more: { fetch?: () => Promise<{ execution: Execution }> } = {},
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
      cancel: never,
      leave: never,
    },
  );
  return { end, alarms };
}

const counting = (file: string, more: Partial<Execution> = {}): Execution =>
  rig.task('shell', { cmd: `echo ran >> ${rig.path(file)}`, retries: 0 }, more);
const runs = (file: string): number => readFileSync(rig.path(file), 'utf8').split('\n').length - 1;
const ended = { end: { kind: 'ended', result: { outcome: 'ok' } }, alarms: [] };
const refused = { end: { kind: 'refused', reason: expect.stringContaining('another order') }, alarms: ['other-order'] };

describe('answers from the journal', () => {
  it('are for the order of their plan, also while the source of orders is away', async () => {
    const task = counting('same');
    expect(await carryOut(task, 'p1')).toMatchObject(ended);
    expect(await carryOut(task, 'p1', { fetch: away })).toMatchObject(ended);
    expect(runs('same')).toBe(1);
  });

  it('are for the same order in another plan, after a look at it', async () => {
    const task = counting('replanned');
    await carryOut(task, 'p1');
    expect(await carryOut(task, 'p2')).toMatchObject(ended);
    await expect(carryOut(task, 'p2', { fetch: away })).rejects.toThrow('the gateway is away');
    expect(runs('replanned')).toBe(1);
  });

  it('are never for another order: that is refused with an alarm, and nothing is run', async () => {
    const task = counting('other');
    await carryOut(task, 'p1');
    const other = { ...task, parameters: { ...task.parameters, cmd: `echo other >> ${rig.path('other')}` } };
    expect(await carryOut(other, 'p2')).toMatchObject(refused);
    expect(await carryOut({ ...task, mode: 'noop' }, 'p1')).toMatchObject(refused);
    expect(runs('other')).toBe(1);
  });

  it('of earlier releases, which have no digest, are compared with the order itself', async () => {
    const task = counting('old');
    await carryOut(task, 'p1');
    const file = join(executionFolder(rig.stateDir, task), 'execution.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ plan: 'p1' });
    writeFileSync(file, stableJson(task));
    expect(await carryOut(task, 'p1')).toMatchObject(ended);
    expect(await carryOut({ ...task, deadlineSec: 7 }, 'p1')).toMatchObject(refused);
    expect(runs('old')).toBe(1);
  });
});
