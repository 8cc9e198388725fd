import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NodeAgent } from '../../../src/agent/index.ts';
import type { Execution } from '../../../src/agent/journal/execution.ts';
import { executionFolder, executionMark } from '../../../src/agent/journal/execution.ts';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { ownCgroup } from '../../../src/agent/supervision/cgroup.ts';
import { contain } from '../../../src/agent/supervision/containment.ts';
import { readProcess } from '../../../src/platform/processes/process-identity.ts';
import { AgentRig, printed } from '../../rig/agent.ts';
import { AgentProcess } from '../../rig/agent-process-handle.ts';
import { eventually } from '../../rig/agent-site.ts';
import { Gate } from '../../rig/gate.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

let gates = 0;
const gate = () => new Gate(rig.path(`gate-${(gates += 1)}`));

/** A task that counts its runs, prints `here`, waits at the gate and prints `there`. */
function countedTask(stand: Gate, more: Partial<Execution> = {}): { task: Execution; runs: () => string } {
  const counter = rig.path(`counter-${gates}`);
  const cmd = `echo run >> ${counter}; echo here; read -r line < ${stand.path}; echo there; echo err >&2`;
  return { task: rig.task('shell', { cmd, retries: 0 }, more), runs: () => readFileSync(counter, 'utf8') };
}

/** All entries of the process table with this name, zombies included. */
const processesNamed = (name: string) =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      const found = readProcess(Number(pid));
      return found !== undefined && commandName(pid) === name ? [found] : [];
    });

function commandName(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

const here = (line: { kind: string }) => line.kind === 'output';

describe.skipIf(process.platform !== 'linux')('an execution survives', () => {
  it('#3 kill -9 of its agent: it runs once, continues, and the next agent re-attaches', async () => {
    const stand = gate();
    const { task, runs } = countedTask(stand);
    const first = new AgentProcess(rig, task);
    await first.said(here);
    await first.kill();
    const second = new AgentProcess(rig, task, {}, true);
    await second.said(here);
    await stand.open();
    const { result } = await second.said((line) => line.kind === 'ended');
    expect(result).toMatchObject({ outcome: 'success', exitCode: 0, tries: [{ number: 1 }] });
    expect(runs()).toBe('run\n');
    expect((await printed(agent, task)).toString()).toBe('here\nthere\n');
    expect((await printed(agent, task, 'stderr')).toString()).toBe('err\n');
  });

  it('#3 an agent that never returns: the result waits until someone asks', async () => {
    const stand = gate();
    const { task, runs } = countedTask(stand);
    const only = new AgentProcess(rig, task);
    await only.said(here);
    await only.kill();
    await stand.open();
    expect(await agent.result(task)).toMatchObject({ outcome: 'success' });
    expect(await agent.ensure(task)).toMatchObject({ kind: 'accepted', result: { outcome: 'success' } });
    expect(runs()).toBe('run\n');
  });

  it('#23 an upgrade during a task: the next version continues from the last offsets', async () => {
    const stand = gate();
    const { task } = countedTask(stand);
    await agent.ensure(task);
    const stop = new AbortController();
    let had = 0;
    for await (const event of agent.follow(task, {}, stop.signal)) {
      if (event.kind !== 'output') continue;
      had = event.offset + event.bytes.length;
      stop.abort();
    }
    expect(had).toBe(5);
    await stand.open();
    const rest: string[] = [];
    for await (const event of rig.agent().follow(task, { stdout: had }))
      if (event.kind === 'output') rest.push(`${event.stream}@${event.offset}:${event.bytes}`);
    expect(rest.sort()).toEqual(['stderr@0:err\n', 'stdout@5:there\n']);
  });

  it('#3 many concurrent requests: it runs once', async () => {
    const counter = rig.path('once');
    const task = rig.task('shell', { cmd: `echo run >> ${counter}` });
    const answers = await Promise.all(Array.from({ length: 6 }, () => rig.agent().ensure(task)));
    expect(answers.every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(await agent.result(task)).toMatchObject({ outcome: 'success' });
    expect(readFileSync(counter, 'utf8')).toBe('run\n');
  });

  it('only under its own key: the key is refused for another execution', async () => {
    const task = rig.task('shell', { cmd: 'true' });
    await rig.run(agent, task);
    expect(await agent.ensure({ ...task, parameters: { cmd: 'false' } })).toEqual({ kind: 'conflict' });
    expect(await agent.ensure({ ...task, node: '2' })).toMatchObject({ kind: 'refused' });
  });

  it('an agent killed between intent and supervisor: the next agent starts it', async () => {
    const task = rig.task('shell', { cmd: 'echo late' });
    const journal = new Journal(executionFolder(rig.stateDir, task));
    journal.create();
    journal.writeExecution(task);
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success', output: { stdout: { tail: 'late\n' } } });
  });

  it('under the supervisor in the source folder, too', async () => {
    const { supervisorCommand: _built, ...options } = rig.options();
    expect(await rig.run(new NodeAgent(options), rig.task('shell', { cmd: 'true' }))).toMatchObject({
      outcome: 'success',
    });
  });

  it('a supervisor that cannot start: the reason is reported, and a retry starts it', async () => {
    const broken = rig.path('broken.mjs');
    writeFileSync(broken, 'throw new Error("no such luck")');
    const task = rig.task('shell', { cmd: 'true' });
    await expect(rig.agent({ supervisorCommand: [process.execPath, broken] }).ensure(task)).rejects.toThrow(
      'no such luck',
    );
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success' });
  });
});

for (const means of ['cgroup', 'process-walk'] as const) {
  const root = ownCgroup();
  const possible = process.platform === 'linux' && (means === 'process-walk' || canMakeGroups());
  const contained = rig.agent({ cgroupRoot: means === 'cgroup' && root !== undefined ? root : false });
  function canMakeGroups(): boolean {
    const probe = root === undefined ? undefined : contain(root, 'probe');
    probe?.close();
    return probe?.means === 'cgroup';
  }

  describe.skipIf(!possible)(`a tree of processes, held by ${means}`, () => {
    /** Five processes in five sessions, all deaf to TERM; the script prints `here` when all are. */
    const tree = (stand: Gate) =>
      `ready=${stand.path}.ready; [ -p "$ready" ] || mkfifo "$ready"; exec 3<>"$ready"
       for n in 1 2 3 4; do
         setsid setsid bash -c 'trap "" TERM; echo ready >&3; exec 3>&-; while :; do sleep 1000; done' &
       done
       for n in 1 2 3 4; do read -r line <&3; done; exec 3>&-
       trap "" TERM; echo here; read -r line < ${stand.path}`;

    it.runIf(means === 'cgroup')('recreates a group that systemd removed at a restart of the agent', () => {
      const group = contain(root!, 'removed');
      rmdirSync(join(root!, 'sitewright-removed'));
      const within = group.run(() => group.members());
      group.close();
      expect(within).toContain(process.pid);
    });

    it('#4 kill -9 of the supervisor: interrupted, and nothing of it is left', async () => {
      const stand = gate();
      const task = rig.task('shell', { cmd: tree(stand) });
      await contained.ensure(task);
      const journal = new Journal(executionFolder(rig.stateDir, task));
      for await (const event of contained.follow(task)) {
        if (event.kind === 'output') process.kill(journal.readClaim()!.pid, 'SIGKILL');
        if (event.kind !== 'ended') continue;
        expect(event.result).toMatchObject({
          outcome: 'failed',
          failure: { kind: 'interrupted', cause: 'supervisor-lost' },
          killed: { cause: 'interrupted', means, signal: 'SIGKILL', survivors: 0 },
        });
        expect(event.result.killed!.found).toBeGreaterThanOrEqual(5);
      }
      expect(rig.processesOf(task)).toEqual([]);
    });

    it('#4 kill -9 of supervisor and agent: the next task on the node ends the leftovers first', async () => {
      const stand = gate();
      const task = rig.task('shell', { cmd: tree(stand) });
      const lost = new AgentProcess(
        rig,
        task,
        contained === agent ? {} : { cgroupRoot: means === 'cgroup' && root ? root : false },
      );
      await lost.said(here);
      await lost.kill();
      process.kill(new Journal(executionFolder(rig.stateDir, task)).readClaim()!.pid, 'SIGKILL');
      // One that just executes another program shows no environment for a moment, and is not counted then.
      await expect.poll(() => rig.processesOf(task).length).toBeGreaterThanOrEqual(5);
      const left = rig.path(`left-${means}`);
      await rig.run(contained, rig.task('shell', { cmd: `date > ${left}` }));
      expect(rig.processesOf(task)).toEqual([]);
      expect(await contained.result(task)).toMatchObject({ outcome: 'failed', failure: { kind: 'interrupted' } });
    });

    it('#4 kill -9 of supervisor and task: interrupted, and its children are ended', async () => {
      const stand = gate();
      const task = rig.task('shell', { cmd: tree(stand) });
      await contained.ensure(task);
      const journal = new Journal(executionFolder(rig.stateDir, task));
      for await (const event of contained.follow(task)) {
        if (event.kind === 'output') {
          process.kill(journal.readClaim()!.pid, 'SIGKILL');
          process.kill(journal.readProgress()!.sessions[0]!, 'SIGKILL');
        }
        if (event.kind !== 'ended') continue;
        expect(event.result).toMatchObject({
          outcome: 'failed',
          failure: { kind: 'interrupted', cause: 'supervisor-lost' },
          killed: { cause: 'interrupted', means, signal: 'SIGKILL', survivors: 0 },
        });
        // The four that were detached.
        expect(event.result.killed!.found).toBeGreaterThanOrEqual(4);
      }
      expect(rig.processesOf(task)).toEqual([]);
      expect(await rig.run(contained, rig.task('shell', { cmd: 'echo next' }))).toMatchObject({ outcome: 'success' });
    });

    it('#4 kill -9 of the task: failed with the signal, its children ended', async () => {
      const task = rig.task('shell', { cmd: 'setsid sleep 1000 & kill -KILL $$', retries: 0 });
      expect(await rig.run(contained, task)).toMatchObject({
        outcome: 'failed',
        signal: 'SIGKILL',
        failure: { kind: 'signal', signal: 'SIGKILL' },
        killed: { cause: 'signal', found: 1, survivors: 0 },
      });
      expect(rig.processesOf(task)).toEqual([]);
    });

    it('#12 cancel ends detached groups that ignore TERM, and records it', async () => {
      const stand = gate();
      const task = rig.task('shell', { cmd: tree(stand) }, { killGraceSec: 0.1 });
      await contained.ensure(task);
      for await (const event of contained.follow(task)) {
        if (event.kind === 'output') contained.cancel(task, 'not needed any more', 'ann');
        if (event.kind !== 'ended') continue;
        expect(event.result).toMatchObject({
          outcome: 'cancelled',
          failure: { kind: 'cancelled', reason: 'not needed any more', by: 'ann' },
          message: 'was cancelled by ann: not needed any more',
          killed: { cause: 'cancel', means, signal: 'SIGKILL', survivors: 0 },
          leftRunning: 0,
        });
        expect(event.result.killed!.found).toBeGreaterThanOrEqual(5);
      }
      expect(rig.processesOf(task)).toEqual([]);
    });

    it('#12 the deadline is kept on the node though the agent is dead', async () => {
      const stand = gate();
      const task = rig.task('shell', { cmd: tree(stand), timeout: 0.4, retries: 3 }, { killGraceSec: 0.1 });
      const lost = new AgentProcess(rig, task, { cgroupRoot: means === 'cgroup' && root ? root : false });
      await lost.said((line) => line.kind === 'ensured');
      await lost.kill();
      expect(await contained.result(task)).toMatchObject({
        outcome: 'failed',
        failure: { kind: 'timeout', seconds: 0.4 },
        killed: { cause: 'timeout', means, survivors: 0 },
        tries: [{ number: 1, outcome: 'failed' }],
      });
      expect(rig.processesOf(task)).toEqual([]);
    });

    it('#11 a thousand children without a waiting parent leave no zombie', async () => {
      const program = rig.path(`forks-${means}.pl`);
      // A zombie has no environment and no arguments, but it keeps its name.
      const name = `sw-${process.pid}-${means.slice(0, 2)}`;
      const named = () => processesNamed(name);
      const stand = gate();
      const wait = `$| = 1; print "forked\\n"; open my $gate, "<", "${stand.path}"; <$gate>`;
      writeFileSync(program, `$0 = "${name}"; for (1..1000) { my $p = fork; exit 0 unless $p } ${wait}`);
      const task = rig.task('shell', { cmd: `perl ${program}; echo $$` });
      await contained.ensure(task);
      for await (const event of contained.follow(task)) {
        if (event.kind !== 'output' || !event.bytes.includes('forked')) continue;
        // The test looks in the right place: while their parent lives they are there. The last of them may still be ending.
        await expect.poll(() => named().filter(({ state }) => state === 'Z').length).toBe(1000);
        await stand.open();
      }
      const result = await contained.result(task);
      expect(result.output.stdout.tail).toMatch(/^forked\n\d+\n$/);
      expect(result).toMatchObject({ outcome: 'success', leftRunning: 0 });
      expect(readProcess(Number(result.output.stdout.tail.split('\n')[1]))).toBeUndefined();
      // Their new parent is the machine's init, which reaps in its own time.
      await eventually(() => named().length === 0);
    });
  });
}

describe.skipIf(process.platform !== 'linux')('one task at a time on a node', () => {
  it('holds between agents: the second waits for the first', async () => {
    const stand = gate();
    const { task: first } = countedTask(stand);
    await agent.ensure(first);
    const second = rig.task('shell', { cmd: 'echo second' });
    const other = rig.agent();
    await other.ensure(second);
    expect(new Journal(executionFolder(rig.stateDir, second)).readProgress()?.phase ?? 'waiting').toBe('waiting');
    await stand.open();
    const [a, b] = [await agent.result(first), await other.result(second)];
    expect([a.outcome, b.outcome]).toEqual(['success', 'success']);
    expect(b.startedAt >= a.endedAt.slice(0, 22)).toBe(true);
  });

  // The model of the journal (test/models/Journal.tla) found it.
  it('lets no late attempt of a task begin once a newer one has', async () => {
    const stand = gate();
    const { task: first } = countedTask(stand);
    await agent.ensure(first);
    const late = rig.task('shell', { cmd: `echo 1 >> ${rig.path('late')}` });
    const newer = { ...late, generation: 2, parameters: { cmd: `echo 2 >> ${rig.path('late')}` } };
    await Promise.all([agent.ensure(late), agent.ensure(newer)]);
    await stand.open();
    expect(await agent.result(newer)).toMatchObject({ outcome: 'success' });
    expect(await agent.result(late)).toMatchObject({
      outcome: 'cancelled',
      changed: false,
      tries: [],
      failure: { reason: 'attempt 2 of the task has begun' },
    });
    expect(readFileSync(rig.path('late'), 'utf8')).toBe('2\n');
  });

  it('bounds the wait: busy, with the holder; other nodes are free', async () => {
    const stand = gate();
    const { task: first } = countedTask(stand);
    await agent.ensure(first);
    const impatient = rig.agent({ lockWaitSec: 0 });
    expect(await rig.run(impatient, rig.task('shell', { cmd: 'true' }))).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'busy', holder: executionFolder(rig.stateDir, first) },
    });
    const neighbour = rig.agent({ node: '2', lockWaitSec: 0 });
    expect(await rig.run(neighbour, rig.task('shell', { cmd: 'true' }, { node: '2' }))).toMatchObject({
      outcome: 'success',
    });
    await stand.open();
    expect(await agent.result(first)).toMatchObject({ outcome: 'success' });
  });

  it('ends the wait on a cancellation', async () => {
    const stand = gate();
    const { task: first } = countedTask(stand);
    await agent.ensure(first);
    const second = rig.task('shell', { cmd: 'true' });
    await agent.ensure(second);
    agent.cancel(second, 'no time');
    expect(await agent.result(second)).toMatchObject({ outcome: 'cancelled', tries: [] });
    await stand.open();
    expect(await agent.result(first)).toMatchObject({ outcome: 'success' });
  });
});

describe.skipIf(process.platform !== 'linux')('#7 a restart of the machine', () => {
  const bootIdPath = join(rig.folder, 'boot_id');
  const booted = (id: string) => writeFileSync(bootIdPath, `${id}\n`);

  it('interrupts the running task, which the next agent finds at its start', async () => {
    booted('boot-1');
    const stand = gate();
    const { task, runs } = countedTask(stand);
    const before = new AgentProcess(rig, task, { bootIdPath });
    await before.said(here);
    await before.kill();
    process.kill(new Journal(executionFolder(rig.stateDir, task)).readClaim()!.pid, 'SIGKILL');
    contain(ownCgroup() ?? false, executionMark(executionFolder(rig.stateDir, task))).kill();
    booted('boot-2');
    const after = rig.agent({ bootIdPath });
    await after.recover();
    expect(after.facts()).toMatchObject({ bootId: 'boot-2', node: '1' });
    expect(await after.result(task)).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'interrupted', cause: 'reboot' },
      bootId: 'boot-2',
    });
    expect(runs()).toBe('run\n');
  });

  it('is a success for the reboot task that requested it, by the boot id', async () => {
    booted('boot-1');
    const fired = rig.path('fired');
    const gone = gate();
    const rebootCommand = ['bash', '-c', `echo fired >> ${fired}; read -r line < ${gone.path}`] as const;
    const task = rig.task('reboot', { timeout: 900 });
    const before = new AgentProcess(rig, task, { bootIdPath, rebootCommand });
    await before.said(here);
    await before.kill();
    const journal = new Journal(executionFolder(rig.stateDir, task));
    expect(journal.readProgress()?.rebootFrom).toBe('boot-1');
    process.kill(journal.readClaim()!.pid, 'SIGKILL');
    contain(ownCgroup() ?? false, executionMark(journal.folder)).kill();
    booted('boot-2');
    expect(await rig.run(rig.agent({ bootIdPath, rebootCommand }), task)).toMatchObject({
      outcome: 'success',
      changed: true,
      bootId: 'boot-2',
      summary: { bootIdBefore: 'boot-1' },
    });
  });

  it('that does not happen is requested three times, then fails', async () => {
    booted('boot-1');
    const fired = rig.path('fired-thrice');
    const rebootCommand = ['bash', '-c', `echo fired >> ${fired}`] as const;
    const stubborn = rig.agent({ bootIdPath, rebootCommand });
    expect(await rig.run(stubborn, rig.task('reboot', { timeout: 0.3 }))).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'not-rebooted', fired: 3 },
    });
    expect(readFileSync(fired, 'utf8')).toBe('fired\nfired\nfired\n');
  });

  it('with a supervisor that is asked to end first (as at a shutdown) is not a failure of the reboot', async () => {
    booted('boot-1');
    const gone = gate();
    const rebootCommand = ['bash', '-c', `echo down; read -r line < ${gone.path}`] as const;
    const task = rig.task('reboot', {});
    const asked = rig.agent({ bootIdPath, rebootCommand });
    await asked.ensure(task);
    const journal = new Journal(executionFolder(rig.stateDir, task));
    for await (const event of asked.follow(task)) {
      if (event.kind === 'output' && event.bytes.includes('down')) {
        booted('boot-2');
        process.kill(journal.readClaim()!.pid, 'SIGTERM');
      }
      if (event.kind === 'ended') expect(event.result).toMatchObject({ outcome: 'success', bootId: 'boot-2' });
    }
  });
});

describe.skipIf(process.platform !== 'linux')('journals', () => {
  it('are listed while unfinished, and deleted some time after they ended', async () => {
    const stand = gate();
    const { task } = countedTask(stand, { run: 'long' });
    const done = rig.task('noop', {}, { run: 'short' });
    const own = rig.agent({ node: '9' });
    await own.ensure({ ...done, node: '9' });
    await own.ensure({ ...task, node: '9' });
    const { type: _t, parameters: _p, ...key } = task;
    expect(own.facts().unfinished).toEqual([{ ...key, node: '9' }]);
    const later = new Date(Date.now() + 60_000);
    own.forgetBefore(new Date(0));
    expect(existsSync(executionFolder(rig.stateDir, { ...done, node: '9' }))).toBe(true);
    own.forgetBefore(later);
    expect(own.facts().unfinished).toHaveLength(1);
    expect(existsSync(executionFolder(rig.stateDir, { ...done, node: '9' }))).toBe(false);
    await stand.open();
    expect(await own.result({ ...task, node: '9' })).toMatchObject({ outcome: 'success' });
    own.forgetBefore(later);
    expect(existsSync(executionFolder(rig.stateDir, { ...task, node: '9' }))).toBe(false);
  });

  it('#3 after kills of the agent at any moment: each of ten counted tasks ran once', async () => {
    const counter = rig.path('soak');
    for (let at = 0; at < 10; at += 1) {
      const cmd = `echo ${at} >> ${counter}; for n in 1 2 3 4 5; do echo $n; done`;
      const task = rig.task('shell', { cmd, retries: 0 }, { run: 'soak' });
      const killed = new AgentProcess(rig, task);
      // From "not yet asked" to "has seen everything": the moment moves with each task.
      if (at > 0) await killed.said(() => killed.lines.length >= Math.min(at, 7)).catch(() => undefined);
      await killed.kill();
      const result = await rig.run(agent, task);
      expect(result).toMatchObject({ outcome: 'success', output: { stdout: { tail: '1\n2\n3\n4\n5\n' } } });
    }
    const lines = readFileSync(counter, 'utf8').trim().split('\n');
    expect(lines.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 10 }, (_, at) => String(at)));
  });
});
