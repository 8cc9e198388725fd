import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { systemdUnit } from '../../../src/agent/onboarding/systemd-unit.ts';
import { loadSettings } from '../../../src/platform/settings/load-settings.ts';
import { settingDefinitions } from '../../../src/platform/settings/settings.ts';
import { devServerArguments } from '../../../src/platform/temporal/dev-server.ts';

const deploy = fileURLToPath(new URL('../../../deploy', import.meta.url));
const units = readdirSync(join(deploy, 'systemd'));
const unit = (name: string): readonly string[] =>
  readFileSync(join(deploy, 'systemd', name), 'utf8')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
const debian = (...path: readonly string[]): string => join(deploy, 'debian', ...path);

/** Required lines of each service of the server. `npm run debian` shows that systemd understands and applies them. */
const HARDENED = [
  'CapabilityBoundingSet=',
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateDevices=yes',
  'RestrictNamespaces=yes',
  'SystemCallFilter=@system-service',
  'LimitCORE=0',
];

// `npm run debian` installs and runs all of this.
describe('units of systemd', () => {
  it('the agent’s unit is the one from user data and `agent install`, except for its program and settings', () => {
    const own = unit('sitewright-agent.service');
    const other = systemdUnit('/usr/bin/sitewright-agent', '/etc/sitewright').split('\n');
    const differing = /^(ExecStart|Environment)=/;
    for (const line of other.filter((each) => each !== '' && !differing.test(each))) expect(own).toContain(line);
    // Tasks would inherit a sandbox.
    expect(own.filter((line) => /^(Protect|Private|Restrict|NoNew|System|Capability|ReadOnly)/.test(line))).toEqual([]);
  });

  it.each(['api', 'worker', 'gateway'])('the service of the %s is confined, and not root', (name) => {
    const lines = unit(`sitewright-${name}.service`);
    for (const line of [
      ...HARDENED,
      'User=sitewright',
      `ExecStart=/usr/bin/sitewright ${name}`,
      'WantedBy=sitewright.target',
    ])
      expect(lines).toContain(line);
  });

  it('the service of the agent of `master` is as confined, as a user who reads nothing of the server, and off', () => {
    const lines = unit('sitewright-master-agent.service');
    for (const line of [...HARDENED, 'User=sitewright-master', 'StateDirectoryMode=0700'])
      expect(lines).toContain(line);
    const worker = new Set(unit('sitewright-worker.service'));
    const hiding = /^(?:Protect|Restrict|NoNew|System|Capability|Lock|Remove|Private|UMask)/;
    // Running tasks outlive their agent, and use its /tmp.
    const open = [...worker].filter((line) => hiding.test(line) && !lines.includes(line));
    expect(open).toEqual(['PrivateTmp=yes']);
    const hidden = lines.find((line) => line.startsWith('InaccessiblePaths=')) ?? '';
    for (const folder of ['/etc/sitewright', '/var/lib/sitewright-server', '/var/lib/sitewright-temporal'])
      expect(hidden.split(/[= ]/)).toContain(`-${folder}`);
    const own = /(?:\/etc|\/var\/lib)\/sitewright[\w-]*/g;
    const named = lines
      .filter((line) => !/^(?:Inaccessible|Documentation)/.test(line))
      .flatMap((line) => line.match(own) ?? []);
    expect([...new Set(named)].sort()).toEqual(['/etc/sitewright-master', '/var/lib/sitewright-master']);
    expect(readFileSync(debian('server/postinst'), 'utf8')).not.toMatch(/units=.*master-agent/);
  });

  it('Temporal’s development server is confined, and configured like that of `up`, with deploy/temporal', () => {
    const lines = unit('sitewright-temporal.service');
    for (const line of [...HARDENED, 'User=sitewright-temporal']) expect(lines).toContain(line);
    const [, start = ''] = /^ExecStart=(.*)$/m.exec(lines.join('\n')) ?? [];
    const valuesOf = (option: string, words: readonly string[]) =>
      words.flatMap((word, at) => (word === option ? [words[at + 1]] : []));
    const own = devServerArguments({ databaseFile: 'temporal.db' }, { port: 7233 });
    const words = start.split(/\s+/).map((word) => word.replace(/^'(.*)'$/, '$1'));
    for (const option of ['--dynamic-config-value', '--sqlite-pragma'])
      expect(valuesOf(option, words).toSorted()).toEqual(valuesOf(option, own).toSorted());
    const settings = load(readFileSync(join(deploy, 'temporal/dynamic-config.yaml'), 'utf8')) as object;
    const ofFile = Object.entries(settings).map(([key, [{ value }]]) => `${key}=${JSON.stringify(value)}`);
    expect(ofFile.toSorted()).toEqual(valuesOf('--dynamic-config-value', own).toSorted());
  });
});

describe('the Debian packages', () => {
  it('include valid settings, for the command line and the services', () => {
    for (const path of [debian('server/sitewright.yaml'), debian('agent/agent.yaml')]) {
      const loaded = loadSettings({ cwd: '/', configFile: path, env: {} });
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    }
    const variables = readFileSync(debian('server/gateway.env'), 'utf8').match(/^\w+(?==)/gm) ?? [];
    expect(variables).toEqual(['SITEWRIGHT_GATEWAY_HOST']);
    expect(settingDefinitions.map(({ variable }) => variable)).toEqual(expect.arrayContaining(variables));
  });

  it('have a command that takes the settings of a folder for no root, and else those of the machine', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sitewright-wrapper-'));
    const whole = join(folder, 'etc.yaml');
    const [wrapper, work] = [join(folder, 'wrapper'), join(folder, 'work')];
    const text = readFileSync(debian('server/sitewright'), 'utf8')
      .replaceAll('/etc/sitewright/sitewright.yaml', whole)
      .replace(/^exec .*$/m, 'echo "config=$SITEWRIGHT_CONFIG"');
    writeFileSync(wrapper, text);
    writeFileSync(whole, '');
    mkdirSync(join(folder, 'bin'));
    mkdirSync(work);
    const configAs = (uid: number): string => {
      writeFileSync(join(folder, 'bin', 'id'), `#!/bin/sh\necho ${uid}\n`, { mode: 0o755 });
      const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
      return execFileSync('sh', [wrapper], { cwd: work, env, encoding: 'utf8' }).trim();
    };
    expect([configAs(0), configAs(1000)]).toEqual([`config=${whole}`, `config=${whole}`]);
    writeFileSync(join(work, 'sitewright.yaml'), '');
    expect([configAs(0), configAs(1000)]).toEqual([`config=${whole}`, 'config=']);
    rmSync(folder, { recursive: true });
  });

  it.each(['agent', 'server'])('the scripts of the %s are valid, and name existing units', (kind) => {
    for (const name of ['postinst', 'prerm', 'postrm']) {
      const path = debian(kind, name);
      execFileSync('sh', ['-n', path]);
      const named = readFileSync(path, 'utf8').match(/\bsitewright[\w-]*\.(?:service|target)(?![\w.])/g) ?? [];
      expect(named.filter((each) => !units.includes(each))).toEqual([]);
      // A script that continues after a failed command leaves half of its work undone.
      expect(readFileSync(path, 'utf8')).toMatch(/^#!\/bin\/sh\nset -e\n/);
    }
  });
});
