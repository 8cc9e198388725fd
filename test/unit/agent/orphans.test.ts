import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { executionFolder } from '../../../src/agent/journal/execution.ts';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { endAll } from '../../../src/agent/supervision/containment.ts';
import { readProcess } from '../../../src/platform/processes/process-identity.ts';
import { AgentRig } from '../../rig/agent.ts';

const rig = new AgentRig();
const agent = rig.agent({ cgroupRoot: false });
afterAll(() => rig.tidy());

const missing = existsSync('/usr/bin/perl') ? undefined : 'perl is not installed';
if (missing !== undefined) console.warn(`skipped: orphans without cgroups, because ${missing}`);

/** Two daemons, in a separate session, without their environment, whose parents have ended. */
const hidden = (stray: string) =>
  `env -i setsid sh -c 'env -i setsid sh -c "sleep ${stray} & exec sleep ${stray}" & exit' & wait $!`;
/** Sleepers of a task: the number they sleep for is unique. */
const asleep = (stray: string): number[] =>
  execFileSync('sh', ['-c', 'grep -alF "$0" /proc/[0-9]*/cmdline 2>/dev/null; true', stray])
    .toString()
    .split('\n')
    .filter((path) => path !== '' && existsSync(path) && readFileSync(path, 'utf8').startsWith('sleep\0'))
    .map((path) => Number(path.split('/')[2]));
/** Polls until all three sleep: nothing reports it. */
const standing = (stray: string) => `until [ $(pgrep -fxc 'sleep ${stray}') -ge 2 ]; do sleep 0.05; done; echo here`;
const claimOf = (task: Parameters<typeof executionFolder>[1]) =>
  new Journal(executionFolder(rig.stateDir, task)).readClaim()!;

describe.skipIf(missing !== undefined)('without cgroups, whatever session and environment it has', () => {
  it('all processes of a task end when it is cancelled', async () => {
    const stray = `86571.${process.pid}`;
    const task = rig.task(
      'shell',
      { cmd: `${hidden(stray)}; ${standing(stray)}; sleep ${stray}` },
      { killGraceSec: 1 },
    );
    await agent.ensure(task);
    for await (const event of agent.follow(task)) {
      if (event.kind === 'output') {
        expect(asleep(stray).length).toBeGreaterThanOrEqual(2);
        agent.cancel(task, 'no');
      }
      if (event.kind === 'ended')
        expect(event.result).toMatchObject({ outcome: 'cancelled', killed: { means: 'process-walk', survivors: 0 } });
    }
    expect(asleep(stray)).toEqual([]);
  });

  it('all processes of a task end when its supervisor is killed', async () => {
    const stray = `86572.${process.pid}`;
    const task = rig.task('shell', { cmd: `${hidden(stray)}; ${standing(stray)}; sleep ${stray}` });
    await agent.ensure(task);
    for await (const event of agent.follow(task)) {
      if (event.kind === 'output') process.kill(claimOf(task).pid, 'SIGKILL');
      if (event.kind === 'ended')
        expect(event.result).toMatchObject({
          outcome: 'failed',
          failure: { kind: 'interrupted' },
          killed: { survivors: 0 },
        });
    }
    expect(asleep(stray)).toEqual([]);
  });

  it('a daemon left on purpose stays and is counted, zombies are reaped, and no process of ours stays', async () => {
    const stray = `86573.${process.pid}`;
    const zombies = 'for n in $(seq 50); do (true & exec true); done';
    const task = rig.task('shell', { cmd: `${hidden(stray)}; ${standing(stray)}; ${zombies}; ps -eo ppid,stat` });
    const result = await rig.run(agent, task);
    expect(result).toMatchObject({ outcome: 'success', killed: null, leftRunning: 2 });
    const { reaper } = claimOf(task);
    expect(reaper).toBeDefined();
    const ofReaper = result.output.stdout.tail.split('\n').filter((line) => line.trim().startsWith(`${reaper!.pid} `));
    expect(ofReaper.filter((line) => line.includes('Z')).length).toBeLessThan(5);
    const left = asleep(stray);
    expect(left).toHaveLength(2);
    for (const pid of left) process.kill(pid);
    await vi.waitFor(() => expect(readProcess(reaper!.pid)?.startTime).not.toBe(reaper!.startTime), 20_000);
  });
});

it('processes are ended though no descriptor is free at first to look for them', async () => {
  let tries = 0;
  let killed = false;
  const everyOther = (): void => {
    tries += 1;
    if (tries % 2 === 1) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  };
  const end = await endAll(
    {
      means: 'process-walk',
      run: (start) => start(),
      adopt: () => undefined,
      members: () => {
        everyOther();
        return killed ? [] : [2 ** 30];
      },
      kill: () => {
        killed = true;
      },
      close: () => undefined,
    },
    0,
    'cancel',
  );
  expect(end).toMatchObject({ signal: 'SIGKILL', found: 1, survivors: 0 });
});
