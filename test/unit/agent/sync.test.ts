import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { prepareTask } from '../../../src/agent/task-types/prepare-task.ts';
import { freePort } from '../../../src/platform/free-port.ts';
import { AgentRig } from '../../rig/agent.ts';
import { appears, Gate } from '../../rig/gate.ts';
import { SshdRig, sshdMissing } from '../../rig/sshd.ts';

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
    '%j is refused',
    (src) => {
      expect(problems({ src, dst: '/etc/x' })).toEqual(['parameters.src']);
    },
  );
  it.each(['relative', '-x', '/a/../b', '/a\0b', 7])('%j is not a destination', (dst) =>
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

  it('makes the folder equal, reports whether anything changed, and deletes extra files', async () => {
    const dst = rig.path('deep/target');
    const task = () => rig.task('sync', { src: `${source}/`, dst });
    expect(await rig.run(agent, task())).toMatchObject({ outcome: 'success', changed: true, exitCode: 0 });
    expect([readFileSync(`${dst}/sub/$(touch x);\nb`, 'utf8'), lstatSync(`${dst}/link`).isSymbolicLink()]).toEqual([
      'odd',
      true,
    ]);
    expect(await rig.run(agent, task())).toMatchObject({ outcome: 'success', changed: false, summary: { changes: 0 } });
    writeFileSync(`${dst}/extra`, 'x');
    expect(await rig.run(agent, task())).toMatchObject({ changed: true, summary: { changes: 1 } });
    expect(existsSync(`${dst}/extra`)).toBe(false);
    writeFileSync(`${source}/file`, 'two');
    expect(await rig.run(agent, task())).toMatchObject({ changed: true });
    expect(readFileSync(`${dst}/file`, 'utf8')).toBe('two');
    unlinkSync(`${source}/sub/$(touch x);\nb`);
    expect(await rig.run(agent, task())).toMatchObject({ changed: true });
  });

  it('fails with 23 on a missing source and retries no more often than configured', async () => {
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

  it('stays in the folder it opened when a link replaces it meanwhile', async () => {
    const [allowed, outside, bin] = ['swapped', 'outside', 'bin-swap'].map((name) => rig.path(name));
    for (const folder of [`${allowed}/dst`, outside!, bin!]) mkdirSync(folder, { recursive: true });
    const swap = `mv '${allowed}/dst' '${allowed}/away' && ln -s '${outside}' '${allowed}/dst' && exec /usr/bin/rsync "$@"`;
    writeFileSync(`${bin}/rsync`, `#!/bin/bash\n${swap}\n`, { mode: 0o755 });
    const agent = rig.agent({ pathRoots: [allowed!], taskPath: `${bin}:/usr/bin:/bin` });
    const task = rig.task('sync', { src: `${source}/`, dst: `${allowed}/dst`, retries: 0 });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success', changed: true });
    expect(readdirSync(outside!)).toEqual([]);
    expect(readFileSync(`${allowed}/away/file`, 'utf8')).toBe('two');
  });

  it('copies from a daemon; an unknown module is exit code 5', async () => {
    const port = await freePort();
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
        // With a socket as standard input it would assume that inetd has started it.
        stdio: 'ignore',
      },
    );
    const src = (module: string) => `rsync://127.0.0.1:${port}/${module}/`;
    // The first try may come before the daemon listens: that is what retries are for.
    const task = rig.task('sync', { src: src('puppet'), dst: rig.path('from-daemon') });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'success', changed: true });
    expect(readFileSync(rig.path('from-daemon/file'), 'utf8')).toBe('two');
    const wrong = rig.task('sync', { src: src('none'), dst: rig.path('t3'), retries: 0 });
    expect(await rig.run(agent, wrong)).toMatchObject({ outcome: 'failed', exitCode: 5 });
  });

  it('fails with 10 when nothing listens', async () => {
    const src = `rsync://127.0.0.1:${await freePort()}/puppet/`;
    const task = rig.task('sync', { src, dst: rig.path('t4'), retries: 0 });
    expect(await rig.run(agent, task)).toMatchObject({ outcome: 'failed', changed: false, exitCode: 10 });
  });

  /** An agent whose rsync finds this script as its `ssh`; a sender behind it is a real one. */
  const withSsh = (name: string, script: string) => {
    const folder = rig.path(`bin-${name}`);
    mkdirSync(folder);
    writeFileSync(`${folder}/ssh`, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
    return rig.agent({ taskPath: `${folder}:/usr/bin:/bin` });
  };

  it('fails on a source that changes meanwhile, and the next attempt makes the folder equal', async () => {
    const [moving, dst] = [rig.path('moving'), rig.path('moved')];
    mkdirSync(moving);
    for (const name of ['a', 'b', 'z']) writeFileSync(`${moving}/${name}`, randomBytes(2_000_000));
    const [gate, halfway] = [new Gate(rig.path('halfway-gate')), rig.path('halfway')];
    // The sender, here without a network, is held when a first part of the first file has left it.
    const relay = rig.path('relay.pl');
    writeFileSync(
      relay,
      `my $sent = 0;
while (sysread STDIN, my $bytes, 65536) {
  while (length $bytes) {
    my $n = syswrite STDOUT, $bytes;
    # rsync's end of the pipe does not wait.
    if (!defined $n) { select undef, undef, undef, 0.01; next }
    substr($bytes, 0, $n) = '';
    next if $sent > 300_000 || ($sent += $n) <= 300_000;
    open my $mark, '>', '${halfway}';
    open my $gate, '<', '${gate.path}';
    <$gate>;
  }
}`,
    );
    const held = withSsh(
      'held',
      `while [ "$1" != rsync ]; do shift; done
[ -e ${halfway} ] && exec "$@"
"$@" | perl ${relay}
exit "\${PIPESTATUS[0]}"`,
    );
    const task = rig.task('sync', { src: `elsewhere:${moving}/`, dst, retries: 3 });
    await held.ensure(task);
    await appears(halfway);
    // The file being sent, in its place, and the last one.
    writeFileSync(`${moving}/a`, randomBytes(2_000_000), { flag: 'r+' });
    unlinkSync(`${moving}/z`);
    await gate.open();
    // 24: "some files vanished before they could be transferred".
    const result = await held.result(task);
    expect(result).toMatchObject({ outcome: 'success', changed: true, tries: [{ exitCode: 24 }, { exitCode: 0 }] });
    expect(readdirSync(dst).sort()).toEqual(['a', 'b']);
    for (const name of ['a', 'b'])
      expect(readFileSync(`${dst}/${name}`).equals(readFileSync(`${moving}/${name}`))).toBe(true);
    expect(await rig.run(held, rig.task('sync', { src: `elsewhere:${moving}/`, dst }))).toMatchObject({
      changed: false,
    });
  });

  const noSshd = sshdMissing();
  if (noSshd !== undefined) console.warn(`skipped: rsync over ssh, because ${noSshd}`);

  it.skipIf(noSshd !== undefined)('copies over ssh; a host that refuses the login fails the task', async () => {
    const sshd = await SshdRig.open();
    try {
      const { port, knownHostsFile } = sshd.target;
      const known = `-p ${port} -o UserKnownHostsFile=${knownHostsFile} -o IdentitiesOnly=yes`;
      const src = `root@127.0.0.1:${source}/`;
      const task = (retries = 0) => rig.task('sync', { src, dst: rig.path('by-ssh'), retries });
      const stranger = withSsh('stranger', `exec /usr/bin/ssh ${known} -i ${sshd.at('stranger')} "$@"`);
      // Which of the two rsync reports depends on whether it sees the end of ssh or of the stream first.
      const refused = await rig.run(stranger, task());
      expect(refused).toMatchObject({ outcome: 'failed', changed: false });
      expect([12, 255]).toContain(refused.exitCode);
      const friend = withSsh('friend', `exec /usr/bin/ssh ${known} -i ${sshd.at('user')} "$@"`);
      expect(await rig.run(friend, task())).toMatchObject({ outcome: 'success', changed: true, exitCode: 0 });
      expect(readFileSync(rig.path('by-ssh/file'), 'utf8')).toBe('two');
      expect(await rig.run(friend, task())).toMatchObject({ outcome: 'success', changed: false });
      writeFileSync(rig.path('by-ssh/extra'), 'x');
      expect(await rig.run(friend, task())).toMatchObject({ outcome: 'success', changed: true });
      expect(existsSync(rig.path('by-ssh/extra'))).toBe(false);
    } finally {
      sshd.close();
    }
  });
});
