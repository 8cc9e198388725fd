import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { taskEnd } from '../../../activities/node/task-end.ts';
import { isTrySeparator } from '../../../src/agent/index.ts';
import { AgentRig, printed } from '../../rig/agent.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

describe.skipIf(process.platform !== 'linux')('shell', () => {
  it('runs the script with bash in its folder, and keeps output and exit code', async () => {
    const task = rig.task('shell', { cmd: 'pwd; echo "$0" | grep -c command.sh; echo to-stderr >&2', cwd: '/tmp' });
    const result = await rig.run(agent, task);
    expect(result).toMatchObject({ outcome: 'success', exitCode: 0, failure: null, killed: null, leftRunning: 0 });
    expect(result.output.stdout).toEqual({ bytes: 7, dropped: 0, tail: '/tmp\n1\n', binary: false });
    expect(result.output.stderr.tail).toBe('to-stderr\n');
    expect((await printed(agent, task)).toString()).toBe('/tmp\n1\n');
  });

  it('runs the script unchanged: quotes, dollars, newlines, a leading dash', async () => {
    const cmd = `-nothing 2>/dev/null\nprintf '%s|' "a b" 'c"d' $((1+1)) \`echo e\` "\\$HOME"`;
    expect((await rig.run(agent, rig.task('shell', { cmd }))).output.stdout.tail).toBe('a b|c"d|2|e|$HOME|');
  });

  it('separates the output of attempts, outside its standard output, and counts them in the reason', async () => {
    const result = await rig.run(agent, rig.task('shell', { cmd: 'echo "no space"; exit 7', retries: 2, interval: 0 }));
    expect(result.output.stdout.tail).toBe('no space\n'.repeat(3));
    const separators = result.output.stderr.tail.split('\n').filter(isTrySeparator);
    expect(separators.map((line) => /\d+ of \d+/.exec(line)![0])).toEqual(['2 of 3', '3 of 3']);
    const { message } = taskEnd({ kind: 'ended', result } as Parameters<typeof taskEnd>[0]);
    expect(message).toMatch(/no space; tried 3 times$/);
  });

  it('shows every retry as an attempt and stops at the first success', async () => {
    const counter = rig.path('counter');
    const cmd = `echo x >> ${counter}; [ $(wc -l < ${counter}) -ge 3 ] || exit 7`;
    const result = await rig.run(agent, rig.task('shell', { cmd, retries: 5, interval: 0 }));
    expect(result.outcome).toBe('success');
    expect(result.tries.map(({ number, outcome, exitCode }) => [number, outcome, exitCode])).toEqual([
      [1, 'failed', 7],
      [2, 'failed', 7],
      [3, 'success', 0],
    ]);
    expect(readFileSync(counter, 'utf8')).toBe('x\nx\nx\n');
  });

  it('fails with the last exit code after 2 retries by default, and after one attempt when the caller retries', async () => {
    const all = await rig.run(agent, rig.task('shell', { cmd: 'exit 9', interval: 0 }));
    expect(all).toMatchObject({ outcome: 'failed', failure: { kind: 'exit', exitCode: 9 } });
    expect(all.tries).toHaveLength(3);
    const one = await rig.run(agent, rig.task('shell', { cmd: 'exit 9' }, { singleTry: true }));
    expect(one.tries).toHaveLength(1);
  });

  it('has its own environment and no standard input', async () => {
    process.env.SITEWRIGHT_LEAK = 'leak';
    const cmd = 'env | sed "s/=.*//" | sort | tr "\\n" " "; cat';
    const result = await rig.run(agent, rig.task('shell', { cmd }));
    delete process.env.SITEWRIGHT_LEAK;
    expect(result.output.stdout.tail).toBe('HOME LANG PATH PWD SHLVL SITEWRIGHT_EXECUTION _ ');
  });

  it.each([
    ['of its supervisor', {}],
    ['of a supervisor under a reaper', { cgroupRoot: false }],
  ] as const)('finds nothing of its agent in the environment %s', async (_, options) => {
    process.env.SITEWRIGHT_LEAK = 'leak';
    const cmd = `for pid in $PPID $(sed 's/.*) //' /proc/$PPID/stat | cut -d' ' -f2); do
      [ "$pid" = ${process.pid} ] || tr '\\0' '\\n' </proc/$pid/environ | sed 's/=.*//' | grep .
    done | sort -u | tr '\\n' ' '`;
    const result = await rig.run(rig.agent(options), rig.task('shell', { cmd }));
    delete process.env.SITEWRIGHT_LEAK;
    const names = result.output.stdout.tail.trim().split(' ');
    expect(names).toContain('PATH');
    const listed = /^(?:PATH|HOME|LANG|LANGUAGE|TZ|TMPDIR|LC_[A-Z]+|SITEWRIGHT_REAPER)$/;
    expect(names.filter((name) => !listed.test(name))).toEqual([]);
  });

  it('reports a missing folder or bash', async () => {
    const task = rig.task('shell', { cmd: 'true', cwd: rig.path('nowhere'), retries: 0 });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'failed', failure: { kind: 'io', code: 'ENOENT' } });
    const bare = rig.agent({ taskPath: rig.path('empty') });
    expect(await rig.run(bare, rig.task('shell', { cmd: 'true' }))).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'missing-program', program: 'bash' },
      tries: [{ number: 1 }],
    });
  });

  it('counts a daemon that the task leaves, and does not wait for it', async () => {
    const task = rig.task('shell', { cmd: 'setsid sleep 300 & echo $! ; echo started' });
    const result = await rig.run(agent, task);
    expect(result).toMatchObject({ outcome: 'success', leftRunning: 1 });
    process.kill(Number(result.output.stdout.tail.split('\n')[0]), 'SIGKILL');
  });

  it('has ended with its command, though a daemon that it leaves goes on to write', async () => {
    const task = rig.task('shell', {
      cmd: 'setsid bash -c "while echo on; do sleep 0.05; done" & echo $!',
      timeout: 30,
    });
    const result = await rig.run(agent, task);
    expect(result).toMatchObject({ outcome: 'success', exitCode: 0 });
  });

  it('master_shell is the same runner', async () => {
    expect((await rig.run(agent, rig.task('master_shell', { cmd: 'echo m' }))).output.stdout.tail).toBe('m\n');
  });

  it('does nothing in a noop run', async () => {
    const file = rig.path('noop');
    const result = await rig.run(agent, rig.task('shell', { cmd: `touch ${file}` }, { mode: 'noop' }));
    expect(result).toMatchObject({ outcome: 'skipped', changed: false, tries: [] });
    expect(existsSync(file)).toBe(false);
  });

  it.each(['noop', 'stage', 'skipped'])('%s is skipped without a process', async (type) => {
    expect(await rig.run(agent, rig.task(type, { anything: 1 }))).toMatchObject({ outcome: 'skipped', changed: false });
  });
});
