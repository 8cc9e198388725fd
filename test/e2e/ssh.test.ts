import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installOverSsh, type SshInstallation } from '../../src/agent/onboarding/install-over-ssh.ts';
import {
  parseSshTarget,
  runOverSsh,
  type SshTarget,
  sshTargetProblem,
} from '../../src/agent/onboarding/ssh-command.ts';
import { shellWord } from '../../src/core/text/text.ts';
import { SshdRig, sshdMissing } from '../rig/sshd.ts';

const missing = sshdMissing();
if (missing !== undefined) console.warn(`skipped: everything over ssh, because ${missing}`);

it('[USER@]HOST is parsed, and anything that ssh would read as something else is refused', () => {
  expect(parseSshTarget('root@10.0.0.1')).toEqual({ user: 'root', host: '10.0.0.1' });
  expect(parseSshTarget('n1.example')).toEqual({ host: 'n1.example' });
  for (const good of ['a', 'a.b-c', '::1', 'fe80::1%eth0', 'root@h'])
    expect(sshTargetProblem(parseSshTarget(good)), good).toBeUndefined();
  for (const bad of ['', '-oProxyCommand=id', 'a b', 'a;id', '$(id)', '-l@h', 'a\nb', 'x@', '@h', 'a b@h'])
    expect(sshTargetProblem(parseSshTarget(bad)), bad).toBeDefined();
});

describe.skipIf(missing !== undefined)('over a real sshd', () => {
  let rig: SshdRig;
  let target: SshTarget;
  const at = (name: string) => rig.at(name);
  beforeAll(async () => {
    rig = await SshdRig.open();
    target = rig.target;
  });
  afterAll(() => rig.close());

  it('a script is passed unchanged, and its exit code returned', async () => {
    const odd = `'"$(id) \`id\` ; \\ ü\n`;
    const end = await runOverSsh(target, `printf %s ${shellWord(odd)}; echo x >&2; exit 7`);
    expect(end).toEqual({ exitCode: 7, stdout: odd, stderr: 'x\n' });
  });

  it('an unknown host is refused, and its key never stored', async () => {
    writeFileSync(at('empty'), '');
    const installation: SshInstallation = {
      ticket: { gateway: 'https://g', authority: 'x', token: 't' },
      program: '/x/bin/y',
    };
    const unknown = await installOverSsh({ ...target, knownHostsFile: at('empty') }, installation);
    expect(unknown).toMatchObject({ ok: false, hint: expect.stringContaining('never adds a key') });
    expect(readFileSync(at('empty'), 'utf8')).toBe('');
    const other = readFileSync(at('stranger.pub'), 'utf8').split(' ');
    writeFileSync(at('wrong'), `[127.0.0.1]:${target.port} ${other[0]} ${other[1]}\n`);
    expect(await installOverSsh({ ...target, knownHostsFile: at('wrong') }, installation)).toMatchObject({ ok: false });
    expect(await installOverSsh({ ...target, identityFile: at('stranger') }, installation)).toMatchObject({
      ok: false,
      hint: expect.stringContaining('Try the same connection with ssh'),
    });
    expect(await installOverSsh({ host: '-oProxyCommand=id' }, installation)).toMatchObject({ ok: false });
  });

  it('the settings of the user weaken none of ours, as ssh itself reads them', async () => {
    writeFileSync(at('config'), 'Host *\n  StrictHostKeyChecking no\n  UpdateHostKeys yes\n  VerifyHostKeyDNS yes\n');
    writeFileSync(at('told'), `#!/bin/sh\nexec ssh -F '${at('config')}' -G "$@"\n`, { mode: 0o755 });
    const { stdout } = await runOverSsh({ host: 'n1.example', user: 'root' }, 'true', at('told'));
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'stricthostkeychecking true',
        'updatehostkeys false',
        'verifyhostkeydns false',
        'batchmode yes',
        'forwardagent no',
      ]),
    );
  });

  it('a machine becomes a node, once', async () => {
    const root = at('machine');
    mkdirSync(join(root, 'opt/sitewright/bin'), { recursive: true });
    const installation: SshInstallation = {
      ticket: { gateway: 'https://gw:8443', authority: "it's\n", token: 'swt_1' },
      program: '/opt/sitewright/bin/sitewright',
      root,
    };
    expect(await installOverSsh(target, installation)).toMatchObject({
      ok: false,
      message: expect.stringContaining('does not exist'),
    });
    writeFileSync(join(root, installation.program), '#!/bin/sh\n', { mode: 0o755 });
    const changes = async (more: Partial<SshInstallation> = {}) => {
      const end = await installOverSsh(target, { ...installation, ...more });
      if (!end.ok) throw new Error(end.message);
      return end.steps.filter(({ changed }) => changed).map(({ what }) => what.slice(root.length));
    };
    expect(await changes()).toEqual([]);
    const ticket = join(root, 'etc/sitewright/ticket.json');
    expect(JSON.parse(readFileSync(ticket, 'utf8'))).toEqual(installation.ticket);
    expect(statSync(ticket).mode & 0o777).toBe(0o600);
    const unit = readFileSync(join(root, 'etc/systemd/system/sitewright-agent.service'), 'utf8');
    expect(unit).toContain('KillMode=process');
    // Another token for an enrolled machine: it is not changed.
    rmSync(ticket);
    writeFileSync(join(root, 'etc/sitewright/credentials.json'), '{}');
    const next = { ticket: { ...installation.ticket, token: 'swt_2' } };
    expect(await changes(next)).toEqual([]);
    expect(existsSync(ticket)).toBe(false);
    expect(await changes({ ...next, again: true })).toEqual(['/etc/sitewright/ticket.json']);
  });
});
