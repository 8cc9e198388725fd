import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installOverSsh, type SshInstallation } from '../../src/onboarding/install-over-ssh.js';
import {
  parseSshTarget,
  runOverSsh,
  type SshTarget,
  shellWord,
  sshTargetProblem,
} from '../../src/onboarding/ssh-command.js';
import { freePort } from '../rig/free-port.js';

const SSHD = '/usr/sbin/sshd';
const missing = !existsSync(SSHD)
  ? 'openssh-server is not installed'
  : userInfo().uid !== 0
    ? 'this is not root'
    : undefined;
if (missing !== undefined) console.warn(`skipped: everything over ssh, because ${missing}`);

it('reads [USER@]HOST, and takes nothing that ssh would take for something else', () => {
  expect(parseSshTarget('root@10.0.0.1')).toEqual({ user: 'root', host: '10.0.0.1' });
  expect(parseSshTarget('n1.example')).toEqual({ host: 'n1.example' });
  for (const good of ['a', 'a.b-c', '::1', 'fe80::1%eth0', 'root@h'])
    expect(sshTargetProblem(parseSshTarget(good)), good).toBeUndefined();
  for (const bad of ['', '-oProxyCommand=id', 'a b', 'a;id', '$(id)', '-l@h', 'a\nb', 'x@', '@h', 'a b@h'])
    expect(sshTargetProblem(parseSshTarget(bad)), bad).toBeDefined();
});

describe.skipIf(missing !== undefined)('over a real sshd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-ssh-'));
  const at = (name: string) => join(folder, name);
  let server: ChildProcess;
  let target: SshTarget;

  beforeAll(async () => {
    for (const name of ['host', 'user', 'stranger'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
    writeFileSync(at('authorized'), readFileSync(at('user.pub')));
    mkdirSync('/run/sshd', { recursive: true });
    const port = await freePort();
    const config = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('authorized')}`,
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      `PidFile ${at('pid')}`,
    ];
    writeFileSync(at('config'), `${config.join('\n')}\n`);
    const [kind, key] = readFileSync(at('host.pub'), 'utf8').split(' ');
    writeFileSync(at('known'), `[127.0.0.1]:${port} ${kind} ${key}\n`);
    target = { user: 'root', host: '127.0.0.1', port, identityFile: at('user'), knownHostsFile: at('known') };
    server = spawn(SSHD, ['-D', '-e', '-f', at('config')], { stdio: 'ignore' });
    for (;;) {
      const open = await new Promise<boolean>((resolve) => {
        const socket = createConnection({ host: '127.0.0.1', port }, () => resolve(true)).on('error', () =>
          resolve(false),
        );
        socket.unref();
      });
      if (open) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  afterAll(() => {
    server.kill();
    rmSync(folder, { recursive: true });
  });

  it('hands a script over as it is, and tells its exit code', async () => {
    const odd = `'"$(id) \`id\` ; \\ ü\n`;
    const end = await runOverSsh(target, `printf %s ${shellWord(odd)}; echo x >&2; exit 7`);
    expect(end).toEqual({ exitCode: 7, stdout: odd, stderr: 'x\n' });
  });

  it('refuses a host it does not know, and never learns it', async () => {
    writeFileSync(at('empty'), '');
    const wish: SshInstallation = { ticket: { gateway: 'https://g', authority: 'x', token: 't' }, program: '/x/bin/y' };
    const unknown = await installOverSsh({ ...target, knownHostsFile: at('empty') }, wish);
    expect(unknown).toMatchObject({ ok: false, hint: expect.stringContaining('never learnt') });
    expect(readFileSync(at('empty'), 'utf8')).toBe('');
    const other = readFileSync(at('stranger.pub'), 'utf8').split(' ');
    writeFileSync(at('wrong'), `[127.0.0.1]:${target.port} ${other[0]} ${other[1]}\n`);
    expect(await installOverSsh({ ...target, knownHostsFile: at('wrong') }, wish)).toMatchObject({ ok: false });
    expect(await installOverSsh({ ...target, identityFile: at('stranger') }, wish)).toMatchObject({
      ok: false,
      hint: expect.stringContaining('Try the same with ssh'),
    });
    expect(await installOverSsh({ host: '-oProxyCommand=id' }, wish)).toMatchObject({ ok: false });
  });

  it('makes a machine a node, once', async () => {
    const root = at('machine');
    mkdirSync(join(root, 'opt/sitewright/bin'), { recursive: true });
    const wish: SshInstallation = {
      ticket: { gateway: 'https://gw:8443', authority: "it's\n", token: 'swt_1' },
      program: '/opt/sitewright/bin/sitewright',
      root,
    };
    expect(await installOverSsh(target, wish)).toMatchObject({
      ok: false,
      message: expect.stringContaining('is not there'),
    });
    writeFileSync(join(root, wish.program), '#!/bin/sh\n', { mode: 0o755 });
    const changes = async (more: Partial<SshInstallation> = {}) => {
      const end = await installOverSsh(target, { ...wish, ...more });
      if (!end.ok) throw new Error(end.message);
      return end.steps.filter(({ changed }) => changed).map(({ what }) => what.slice(root.length));
    };
    expect(await changes()).toEqual([]);
    const ticket = join(root, 'etc/sitewright/ticket.json');
    expect(JSON.parse(readFileSync(ticket, 'utf8'))).toEqual(wish.ticket);
    expect(statSync(ticket).mode & 0o777).toBe(0o600);
    const unit = readFileSync(join(root, 'etc/systemd/system/sitewright-agent.service'), 'utf8');
    expect(unit).toContain('KillMode=process');
    // Another token for a machine that is enrolled: it stays as it is.
    rmSync(ticket);
    writeFileSync(join(root, 'etc/sitewright/credentials.json'), '{}');
    const next = { ticket: { ...wish.ticket, token: 'swt_2' } };
    expect(await changes(next)).toEqual([]);
    expect(existsSync(ticket)).toBe(false);
    expect(await changes({ ...next, again: true })).toEqual(['/etc/sitewright/ticket.json']);
  });
});
