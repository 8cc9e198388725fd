import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { prepareTask } from '../../../src/agent/prepare-task.js';
import { AgentRig } from '../../rig/agent.js';

const rig = new AgentRig();
const agent = rig.agent();
let daemon: ChildProcess | undefined;
afterAll(() => {
  daemon?.kill('SIGKILL');
  rig.tidy();
});

const problems = (parameters: Record<string, unknown>) => {
  const preparation = prepareTask(rig.task('sync', parameters));
  return preparation.ok ? [] : preparation.problems.map(({ path }) => path);
};

describe('the parameters of sync', () => {
  it.each([
    'rsync://master:873/puppet/modules/',
    'host::module/x',
    'user@host:/path',
    '/local/path',
    'h-1.example:/x y',
  ])('%s is a source', (src) => expect(problems({ src, dst: '/etc/x' })).toEqual([]));
  it.each(['-e sh', '--rsh=touch x', 'http://x/y', 'relative', '', 'a;b:/x', 'rsync://$(id)/x', '/a\nb'])(
    '%j is none',
    (src) => {
      expect(problems({ src, dst: '/etc/x' })).toEqual(['parameters.src']);
    },
  );
  it.each(['relative', '-x', '/a/../b', '/a\0b', 7])('%j is no destination', (dst) =>
    expect(problems({ src: '/x', dst })).toEqual(['parameters.dst']),
  );
});

const hasRsync = spawnSync('rsync', ['--version']).status === 0;
if (!hasRsync) console.warn('rsync is not installed: its tests are skipped (apt-get install rsync)');

describe.skipIf(!hasRsync)('#25 real rsync', () => {
  const source = rig.path('source');
  mkdirSync(`${source}/sub`, { recursive: true });
  writeFileSync(`${source}/file`, 'one');
  writeFileSync(`${source}/sub/$(touch x);\nb`, 'odd');
  symlinkSync('file', `${source}/link`);

  it('makes the folder equal, says whether it changed anything, and deletes what is too much', async () => {
    const dst = rig.path('deep/target');
    const task = () => rig.task('sync', { src: `${source}/`, dst });
    expect(await rig.run(agent, task())).toMatchObject({ outcome: 'ok', changed: true, exitCode: 0 });
    expect([readFileSync(`${dst}/sub/$(touch x);\nb`, 'utf8'), lstatSync(`${dst}/link`).isSymbolicLink()]).toEqual([
      'odd',
      true,
    ]);
    expect(await rig.run(agent, task())).toMatchObject({ outcome: 'ok', changed: false, summary: { changes: 0 } });
    writeFileSync(`${dst}/extra`, 'x');
    expect(await rig.run(agent, task())).toMatchObject({ changed: true, summary: { changes: 1 } });
    expect(existsSync(`${dst}/extra`)).toBe(false);
    writeFileSync(`${source}/file`, 'two');
    expect(await rig.run(agent, task())).toMatchObject({ changed: true });
    expect(readFileSync(`${dst}/file`, 'utf8')).toBe('two');
    unlinkSync(`${source}/sub/$(touch x);\nb`);
    expect(await rig.run(agent, task())).toMatchObject({ changed: true });
  });

  it('fails with 23 on a missing source and retries no more than it is told', async () => {
    const task = rig.task('sync', { src: rig.path('missing'), dst: rig.path('t2'), retries: 0 });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'failed', failure: { kind: 'exit', exitCode: 23 } });
    const parameters = prepareTask(rig.task('sync', { src: '/x', dst: '/y' }));
    expect(parameters).toMatchObject({ task: { limits: { timeoutSec: 300, retries: 10 } } });
  });

  it('does not leave the roots, nor follow a link out of them', async () => {
    const narrow = rig.agent({ pathRoots: [rig.path('allowed')] });
    mkdirSync(rig.path('allowed'));
    symlinkSync(rig.folder, rig.path('allowed/out'));
    for (const dst of [rig.path('elsewhere'), rig.path('allowed/out/elsewhere')])
      expect(await rig.run(narrow, rig.task('sync', { src: `${source}/`, dst }))).toMatchObject({
        outcome: 'failed',
        failure: { kind: 'refused-path', path: dst },
        tries: [{ number: 1 }],
      });
    expect(existsSync(rig.path('elsewhere'))).toBe(false);
  });

  it('gets from a daemon; a module it does not have is exit code 5', async () => {
    const port = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, '127.0.0.1', () => {
        const { port: free } = probe.address() as { port: number };
        probe.close(() => resolve(free));
      });
    });
    const asRoot = process.getuid?.() === 0 ? 'uid = root\ngid = root\n' : '';
    const config = rig.path('rsyncd.conf');
    writeFileSync(
      config,
      `use chroot = no\n${asRoot}log file = ${rig.path('rsyncd.log')}\n[puppet]\npath = ${source}\n`,
    );
    daemon = spawn(
      'rsync',
      ['--daemon', '--no-detach', `--config=${config}`, `--port=${port}`, '--address=127.0.0.1'],
      {
        // A socket as standard input would tell it that inetd has started it.
        stdio: 'ignore',
      },
    );
    const src = (module: string) => `rsync://127.0.0.1:${port}/${module}/`;
    // The first try may come before the daemon listens: that is what retries are for.
    const task = rig.task('sync', { src: src('puppet'), dst: rig.path('from-daemon') });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'ok', changed: true });
    expect(readFileSync(rig.path('from-daemon/file'), 'utf8')).toBe('two');
    const wrong = rig.task('sync', { src: src('none'), dst: rig.path('t3'), retries: 0 });
    expect(await rig.run(agent, wrong)).toMatchObject({ outcome: 'failed', exitCode: 5 });
  });
});
