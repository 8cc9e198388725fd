import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openExecutions } from '../../../src/agent/index.ts';
import { type Execution, executionFolder, nodeFolder, stableJson } from '../../../src/agent/journal/execution.ts';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { isRunning, readBootId } from '../../../src/platform/processes/process-identity.ts';
import { AgentRig } from '../../rig/agent.ts';
import { AgentProcess } from '../../rig/agent-process-handle.ts';
import { eventually } from '../../rig/agent-site.ts';
import { Gate } from '../../rig/gate.ts';

/** Whatever a disk or a person does to a file of a journal, the agent continues, and nothing runs twice. */
const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

const DAMAGE: Readonly<Record<string, (path: string) => void>> = {
  empty: (path) => writeFileSync(path, ''),
  truncated: (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  garbled: (path) => writeFileSync(path, Buffer.from([0, 255, 254, 10, 123, 200])),
  'of another type': (path) => writeFileSync(path, '[7]'),
  'without its fields': (path) => writeFileSync(path, '{"v":1}'),
  'replaced by a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
};
const kinds = Object.keys(DAMAGE);

let counters = 0;
/** A task that counts its runs; with a gate, it waits there. */
function counted(gate?: Gate, more: Partial<Execution> = {}) {
  const counter = rig.path(`counter-${(counters += 1)}`);
  const wait = gate === undefined ? '' : `; echo here; read -r line < ${gate.path}`;
  const task = rig.task('shell', { cmd: `echo run >> ${counter}${wait}`, retries: 0 }, more);
  const folder = executionFolder(rig.stateDir, task);
  const runs = () => (existsSync(counter) ? readFileSync(counter, 'utf8').split('\n').length - 1 : 0);
  return { task, folder, runs, name: `${task.run}/${task.task}/1` };
}
const aside = (folder: string, file: string): boolean =>
  readdirSync(folder).some((name) => name.startsWith(`${file}.unreadable`));

describe.each(kinds)('a file that is %s', (kind) => {
  const damage = DAMAGE[kind]!;

  it('as the result makes the outcome unknown; the agent and its other tasks continue', async () => {
    const { task, folder, runs, name } = counted();
    await rig.run(agent, task);
    // Its supervisor writes the result shortly before it ends.
    await eventually(() => !isRunning(new Journal(folder).readClaim()!, readBootId()));
    damage(join(folder, 'exit.json'));
    const found = await rig.agent().recover();
    expect(found.filter((line) => line.includes(name))).toHaveLength(1);
    expect(await rig.run(agent, task)).toMatchObject({
      outcome: 'lost',
      failure: { kind: 'journal', execution: name },
      message: expect.stringContaining('exit.json: '),
    });
    expect([runs(), aside(folder, 'exit.json')]).toEqual([1, true]);
    expect(await rig.run(agent, counted().task)).toMatchObject({ outcome: 'success' });
    expect(agent.facts().unfinished).toEqual([]);
  });

  it('as the claim does not hide the result of an ended task; a lost task is unknown, and not run again', async () => {
    const { task, folder, runs } = counted();
    await rig.run(agent, task);
    damage(join(folder, 'claim.json'));
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success' });
    rmSync(join(folder, 'exit.json'));
    expect(await rig.run(rig.agent(), task)).toMatchObject({ outcome: 'lost' });
    expect([runs(), aside(folder, 'claim.json')]).toEqual([1, true]);
  });

  it('as the intent lets the order start an unstarted task, and an ended one is not run again', async () => {
    const fresh = counted();
    mkdirSync(fresh.folder, { recursive: true });
    writeFileSync(join(fresh.folder, 'execution.json'), stableJson(fresh.task));
    damage(join(fresh.folder, 'execution.json'));
    expect(agent.execution(fresh.task)).toBeUndefined();
    expect(agent.facts().unfinished).toEqual([]);
    expect(openExecutions(rig.stateDir)).toEqual([]);
    expect(await rig.run(agent, fresh.task)).toMatchObject({ outcome: 'success' });
    damage(join(fresh.folder, 'execution.json'));
    expect(await rig.run(agent, fresh.task)).toMatchObject({ outcome: 'success' });
    expect([fresh.runs(), aside(fresh.folder, 'execution.json')]).toEqual([1, true]);
  });

  it('as a request to cancel cancels the task', async () => {
    const { task, folder, runs } = counted();
    agent.cancel(task, 'wrong release');
    damage(join(folder, 'cancel.json'));
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'cancelled' });
    expect(runs()).toBe(0);
  });
});

describe('while a task runs', () => {
  it.each(['claim.json', 'progress.json', 'execution.json', 'exit.json'])(
    'a damaged %s changes neither the task nor its result',
    async (file) => {
      const gate = new Gate(rig.path(`gate-${file}`));
      const { task, folder, runs } = counted(gate);
      const first = new AgentProcess(rig, task);
      await first.said((line) => line.kind === 'output');
      await first.kill();
      rmSync(join(folder, file), { force: true });
      mkdirSync(join(folder, file));
      const next = rig.agent();
      await next.recover();
      expect(new Journal(folder).readProgress()).toEqual(file === 'progress.json' ? undefined : expect.anything());
      const result = rig.run(next, task);
      await gate.open();
      expect(await result).toMatchObject({ outcome: 'success' });
      expect(runs()).toBe(1);
    },
  );

  it('folders in place of its other files lose only the content of those files', async () => {
    const { task, folder, runs } = counted();
    for (const name of ['reserve', 'supervisor.log', 'stdout.000000000000000', 'progress.json', 'try-1'])
      mkdirSync(join(folder, name), { recursive: true });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success' });
    expect(runs()).toBe(1);
  });
});

it('space for the result that a full disk has cut short is reserved again', async () => {
  const { task: plain, folder } = counted();
  const found = rig.path('reserved');
  const task = { ...plain, parameters: { ...plain.parameters, cmd: `stat -c %s ${folder}/reserve > ${found}` } };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'reserve'), 'cut short');
  expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success' });
  expect(readFileSync(found, 'utf8')).toBe('131072\n');
});

it('anything among the journals that is not one is ignored', async () => {
  const node = nodeFolder(rig.stateDir, '1');
  writeFileSync(join(node, 'runs', 'stray'), 'x');
  mkdirSync(join(node, 'runs', 'odd', 'task'), { recursive: true });
  writeFileSync(join(node, 'runs', 'odd', 'task', '1'), 'x');
  await agent.recover();
  agent.forgetBefore(new Date(0));
  expect(agent.facts().unfinished).toEqual([]);
  const { task } = counted(undefined, { run: 'odd', task: 'task' });
  expect(await agent.ensure(task)).toMatchObject({ kind: 'refused', failure: { kind: 'io' } });
});

it('a folder in place of the lock of the node fails its tasks with that reason', async () => {
  const lock = join(nodeFolder(rig.stateDir, '1'), 'lock');
  rmSync(lock, { force: true });
  mkdirSync(lock);
  const { task, runs } = counted();
  expect(await rig.run(agent, task)).toMatchObject({ outcome: 'failed', failure: { kind: 'io', path: lock } });
  rmSync(lock, { recursive: true });
  expect([runs(), (await rig.run(agent, counted().task)).outcome]).toEqual([0, 'success']);
});
