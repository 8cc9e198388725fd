import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { type Execution, executionFolder } from '../../../src/agent/journal/execution.ts';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { AgentRig } from '../../rig/agent.ts';
import { AgentProcess } from '../../rig/agent-process-handle.ts';
import { Gate } from '../../rig/gate.ts';
import { supervisorProgram } from '../../rig/program.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

let gates = 0;
const gate = () => new Gate(rig.path(`gate-${(gates += 1)}`));

/** A task that counts its runs, starts a process that detaches itself, prints `here` and waits at the gate. */
function countedTask(stand: Gate, more: Partial<Execution> = {}): { task: Execution; runs: () => string } {
  const counter = rig.path(`counter-${gates}`);
  const cmd = `echo run >> ${counter}; setsid sleep 1000 & echo here; read -r line < ${stand.path}; kill $!; echo there`;
  const task = rig.task('shell', { cmd, retries: 0 }, { killGraceSec: 0.1, ...more });
  return { task, runs: () => readFileSync(counter, 'utf8') };
}

/** One outcome, the same for every caller at any time, and no process left. */
async function oneOutcome(task: Execution): Promise<string> {
  const [result, again] = await Promise.all([agent.result(task), rig.agent().result(task)]);
  expect(again).toEqual(result);
  expect(rig.processesOf(task)).toEqual([]);
  expect(await agent.ensure(task)).toEqual({ kind: 'accepted', result });
  return result.outcome;
}

describe.skipIf(process.platform !== 'linux')('#13 races of cancel', () => {
  it('cancelled before it was ensured, a task never starts', async () => {
    const { task, runs } = countedTask(gate());
    agent.cancel(task, 'changed my mind');
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'cancelled', changed: false, tries: [] });
    expect(await oneOutcome(task)).toBe('cancelled');
    expect(runs).toThrow('ENOENT');
  });

  it('cancelled between intent and supervisor, a task never starts', async () => {
    const { task, runs } = countedTask(gate());
    const [node, program] = supervisorProgram();
    const slow = gate();
    const supervisorCommand = ['bash', '-c', 'read -r line < "$0"; exec "$@"', slow.path, node, program] as const;
    const starting = rig.agent({ supervisorCommand }).ensure(task);
    agent.cancel(task, 'while it starts');
    await slow.open();
    await starting;
    expect(await oneOutcome(task)).toBe('cancelled');
    expect(runs).toThrow('ENOENT');
  });

  it('cancelled by two agents concurrently, a task keeps one reason', async () => {
    const { task, runs } = countedTask(gate());
    await agent.ensure(task);
    for await (const event of agent.follow(task)) {
      if (event.kind !== 'output') continue;
      agent.cancel(task, 'first');
      rig.agent().cancel(task, 'second');
    }
    expect(await oneOutcome(task)).toBe('cancelled');
    agent.cancel(task, 'third');
    expect(await agent.result(task)).toMatchObject({ failure: { kind: 'cancelled', reason: 'first' } });
    expect(runs()).toBe('run\n');
  });

  it('cancelled after its end, a task does not change', async () => {
    const task = rig.task('shell', { cmd: 'true' });
    const result = await rig.run(agent, task);
    agent.cancel(task, 'late');
    expect(await oneOutcome(task)).toBe('success');
    expect(await agent.result(task)).toEqual(result);
  });

  it('cancelled at its exit, a task has one of both outcomes, and no process', async () => {
    for (let round = 0; round < 3; round += 1) {
      const stand = gate();
      const { task, runs } = countedTask(stand);
      await agent.ensure(task);
      await stand.open();
      // From "the task has just continued" to "it may have ended": the moment moves with each round.
      for (let turn = 0; turn < 2 * round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      agent.cancel(task, 'now');
      expect(['success', 'cancelled']).toContain(await oneOutcome(task));
      expect(runs()).toBe('run\n');
    }
  });

  it('cancelled between two attempts, a task makes no further one', async () => {
    const task = rig.task('shell', { cmd: 'echo x; exit 1', interval: 1000, retries: 5 });
    await agent.ensure(task);
    for await (const event of agent.follow(task))
      if (event.kind === 'progress' && event.progress.phase === 'pausing') agent.cancel(task, 'enough');
    expect(await agent.result(task)).toMatchObject({ outcome: 'cancelled', tries: [{ number: 1, exitCode: 1 }] });
    expect(await oneOutcome(task)).toBe('cancelled');
  });

  it.each([
    ['without a follower', 'before'],
    ['as the next agent starts', 'starting'],
    ['as it re-attaches', 'ensured'],
  ] as const)('a task whose agent was killed, %s, is cancelled once', async (_name, moment) => {
    const { task, runs } = countedTask(gate());
    const first = new AgentProcess(rig, task);
    await first.said(({ kind }) => kind === 'output');
    await first.kill();
    const cancel = () => agent.cancel(task, 'on the way');
    if (moment === 'before') cancel();
    const second = new AgentProcess(rig, task, {}, true);
    if (moment === 'starting') cancel();
    if (moment === 'ensured') {
      await second.said(({ kind }) => kind === moment);
      cancel();
    }
    const { result } = await second.said(({ kind }) => kind === 'ended');
    expect(result).toMatchObject({ outcome: 'cancelled', killed: { cause: 'cancel', survivors: 0 } });
    expect(await oneOutcome(task)).toBe('cancelled');
    expect(runs()).toBe('run\n');
  });

  it('a task whose agent and supervisor were killed is interrupted once, with nothing left', async () => {
    const { task, runs } = countedTask(gate());
    const first = new AgentProcess(rig, task);
    await first.said(({ kind }) => kind === 'output');
    await first.kill();
    process.kill(new Journal(executionFolder(rig.stateDir, task)).readClaim()!.pid, 'SIGKILL');
    agent.cancel(task, 'too late for a supervisor');
    await Promise.all([agent.recover(), rig.agent().recover()]);
    expect(await oneOutcome(task)).toBe('failed');
    expect(runs()).toBe('run\n');
  });
});
