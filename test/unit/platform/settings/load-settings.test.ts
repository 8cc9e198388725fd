import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoadOptions, loadSettings } from '../../../../src/platform/settings/load-settings.ts';
import { readMaasKey } from '../../../../src/platform/settings/secrets.ts';
import { settingDefinitions } from '../../../../src/platform/settings/settings.ts';
import { showSettings } from '../../../../src/platform/settings/show-settings.ts';

describe('loadSettings', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'sitewright-settings-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  const load = (options: { file?: string; env?: NodeJS.ProcessEnv } & Omit<LoadOptions, 'env'> = {}) => {
    if (options.file !== undefined) writeFileSync(join(cwd, 'sitewright.yaml'), options.file);
    const { file: _, ...rest } = options;
    return loadSettings({ cwd, env: {}, ...rest });
  };
  const good = (options: Parameters<typeof load>[0]) => {
    const loaded = load(options);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded;
  };
  const bad = (options: Parameters<typeof load>[0]) => {
    const loaded = load(options);
    if (loaded.ok) throw new Error('accepted');
    return loaded.problems;
  };

  it.each([
    [
      'of a user is below their home',
      { isRoot: false, env: { HOME: '/users/ann' } },
      '/users/ann/.local/state/sitewright',
    ],
    ['of a user is where they keep state', { isRoot: false, env: { XDG_STATE_HOME: '/s' } }, '/s/sitewright'],
    ['of root is that of the machine', { isRoot: true, env: { HOME: '/root' } }, '/var/lib/sitewright'],
    [
      'of a user is the one that is set',
      { isRoot: false, env: { HOME: '/users/ann', SITEWRIGHT_AGENT_STATE_DIR: '/a' } },
      '/a',
    ],
  ])('the folder of journals %s', (_, options, folder) => {
    expect(good(options).settings.agent.state_dir).toBe(folder);
  });

  it('has all its defaults without file and environment', () => {
    const { settings, origins } = good({});
    expect(settings).toEqual({
      temporal: {
        address: '127.0.0.1:7233',
        namespace: 'default',
        retention_days: 30,
        task_queue: 'sitewright',
        tls: {},
        worker_versioning: 'auto',
      },
      worker: {
        activity_slots: 500,
        machine_slots: 2_000,
        workflow_slots: 40,
        part_slots: 4,
        activity_pollers: 10,
        workflow_pollers: 10,
        cached_workflows: 200,
      },
      store: { url: 'sqlite:./.sitewright/sitewright.db' },
      maas: { timeouts: { read_seconds: 60, change_seconds: 180 }, poll_min_seconds: 5, poll_max_seconds: 30 },
      deploy: { max_parallel_nodes: 64, heartbeat_seconds: 20, offline_wait_seconds: 120 },
      yaql: {},
      tags: {},
      packages: {
        base_release: 'on',
        archive_megabytes: 64,
        unpacked_megabytes: 512,
        max_files: 20_000,
        archives_at_once: 4,
      },
      api: { host: '127.0.0.1', port: 8080, tls: {}, rate_limit_per_minute: 6_000 },
      access: {
        approval_by_another: 'off',
        tokens: 'off',
        openid: {
          name_claim: 'email',
          roles_claim: 'groups',
          scopes: 'openid profile email',
          session_hours: 10,
          unstated_address: 'refuse',
        },
      },
      agent: { state_dir: '/var/lib/sitewright', keep_days: 14, master: 'deny' },
      task_logs: { folder: join(cwd, '.sitewright/task-logs'), megabytes: 16 },
      gateway: {
        port: 8443,
        data_dir: join(cwd, '.sitewright/gateway'),
        source_roots: '/etc/sitewright/sources',
        token_hours: 24,
        node_package: 'nodejs',
      },
      secrets: {},
      notices: { give_up_hours: 24 },
      checks: { hosts: '' },
      git: { allow_local: 'off', hosts: '', timeout_seconds: 120, max_megabytes: 64 },
      codec: { host: '127.0.0.1', port: 8081 },
      telemetry: { metrics_host: '127.0.0.1' },
      log: { level: 'info', format: 'pretty' },
    });
    expect([...origins.values()].every(({ from }) => from === 'default')).toBe(true);
  });

  const checksum = `#sha512-${'A'.repeat(86)}==`;
  it.each([
    ['agent', 'https://files.example/agent.tgz', true],
    ['agent', `http://files.example/agent.tgz${checksum}`, true],
    ['agent', `https://files.example/agent.tgz${checksum}`, true],
    ['agent', 'http://files.example/agent.tgz', false],
    ['agent', 'HTTP://files.example/agent.tgz', false],
    ['agent', 'http://files.example/agent.tgz#sha512-', false],
    ['agent', 'http://files.example/agent.tgz#sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=', false],
    ['agent', 'https://files.example/agent.tgz#sha512-short', false],
    ['agent', `ftp://files.example/agent.tgz${checksum}`, false],
    ['agent', 'sitewright', false],
    ['agent', 'git+ssh://files.example/sitewright.git', false],
    ['node', 'nodejs', true],
    ['node', 'nodejs=24.15.0-1~deb13', true],
    ['node', 'https://files.example/node.tar.xz', true],
    ['node', `http://files.example/node.tar.xz${checksum}`, true],
    ['node', 'http://files.example/node.tar.xz', false],
    ['node', 'hTTp://files.example/node.tar.xz', false],
    ['node', '--allow-unauthenticated', false],
  ])('of packages that nodes install: %s %s is accepted: %s', (which, address, accepted) => {
    const problems = load({ env: { [`SITEWRIGHT_GATEWAY_${which.toUpperCase()}_PACKAGE`]: address } });
    expect(problems.ok ? [] : problems.problems.map(({ path }) => path)).toEqual(
      accepted ? [] : [`gateway.${which}_package`],
    );
  });

  it('prefers the environment over the file and the file over the default, and reports the origin', () => {
    const file = 'temporal:\n  address: a:1\n  namespace: from-file\n';
    const { settings, origins } = good({
      file,
      env: { SITEWRIGHT_TEMPORAL_ADDRESS: 'b:2', SITEWRIGHT_API_PORT: '81' },
    });
    expect(settings.temporal).toMatchObject({ address: 'b:2', namespace: 'from-file', task_queue: 'sitewright' });
    expect(settings.api.port).toBe(81);
    expect(origins.get('temporal.address')).toEqual({ from: 'environment', variable: 'SITEWRIGHT_TEMPORAL_ADDRESS' });
    expect(origins.get('temporal.namespace')).toEqual({ from: 'file', file: join(cwd, 'sitewright.yaml'), line: 3 });
    expect(origins.get('temporal.task_queue')).toEqual({ from: 'default' });
  });

  it('reaches every setting by its variable and by its path', () => {
    for (const { path, variable, isNumber, choices, secret, ownSecret, isCode, with: beside } of settingDefinitions) {
      // A certificate is useless without its key, whose file must exist.
      if (ownSecret !== undefined || beside !== undefined) continue;
      const sample: Record<string, string> = {
        'temporal.address': 'x:9',
        'temporal.ui_url': 'http://x',
        'maas.url': 'https://x/MAAS',
        'maas.key': 'a:b:c',
        'gateway.url': 'https://x',
        'gateway.agent_package': 'https://x/agent.tgz',
        'gateway.temporal_address': 'x:9',
        'codec.origin': 'http://x',
        'notices.page_url': 'http://x',
        'telemetry.otlp_endpoint': 'http://x',
        'store.url': 'sqlite:x',
        'deploy.user_data_file': '/x',
      };
      const value = sample[path] ?? (isNumber ? '7' : (choices?.[0] ?? 'text'));
      expect(good({ env: { [variable]: value } }).origins.get(path)).toEqual({ from: 'environment', variable });
      if (secret) continue;
      const lines = path.split('.').map((key, depth) => `${'  '.repeat(depth)}${key}:`);
      // Code is taken from a file that is named.
      const named = isCode ? { configFile: join(cwd, 'sitewright.yaml') } : {};
      expect(good({ file: `${lines.join('\n')} ${value}\n`, ...named }).origins.get(path)).toMatchObject({
        from: 'file',
        line: lines.length,
      });
      rmSync(join(cwd, 'sitewright.yaml'));
    }
  });

  it('accepts the switches of YAML as written, and nothing else', () => {
    expect(good({ file: 'access: { tokens: on }\n' }).settings.access.tokens).toBe('on');
    expect(good({ file: 'access: { tokens: "on" }\n' }).settings.access.tokens).toBe('on');
    expect(good({ file: 'access: { tokens: off }\n' }).settings.access.tokens).toBe('off');
    expect(bad({ file: 'access: { tokens: 1 }\n' })).toMatchObject([{ path: 'access.tokens' }]);
    expect(bad({ env: { SITEWRIGHT_ACCESS_TOKENS: 'maybe' } })).toMatchObject([{ path: 'access.tokens' }]);
  });

  it('requires certificate and key together, and keys that only their owner can read', () => {
    const key = join(cwd, 'tls.key');
    writeFileSync(key, 'x');
    chmodSync(key, 0o644);
    const problems = bad({
      file: 'temporal: { tls: { key_file: tls.key, cert_file: c.pem } }\napi: { tls: { cert_file: c.pem } }\n',
      env: { SITEWRIGHT_TEMPORAL_API_KEY_FILE: '/nowhere' },
    });
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['settings.secret-file', 'temporal.tls.key_file'],
      ['settings.secret-file', 'temporal.api_key_file'],
      ['settings.contradiction', 'api.tls.cert_file'],
    ]);
    chmodSync(key, 0o600);
    const { settings } = good({ file: 'api: { tls: { cert_file: c.pem, key_file: tls.key } }\n' });
    expect(settings.api.tls).toEqual({ cert_file: join(cwd, 'c.pem'), key_file: key });
  });

  it('reports all problems, each with its place and a hint', () => {
    const problems = bad({
      file: 'temporal:\n  adress: a:1\nlog:\n  level: loud\napi:\n  port: 99999\nport: 1\nstore: here\n',
    });
    const brief = problems.map(({ code, path, line, column }) => [code, path, line, column]);
    expect(brief).toEqual(
      expect.arrayContaining([
        ['settings.unknown-key', 'temporal.adress', 2, 3],
        ['settings.unknown-key', 'port', 7, 1],
        ['settings.not-a-mapping', 'store', 8, 8],
        ['settings.bad-value', 'log.level', 4, 10],
        ['settings.bad-value', 'api.port', 6, 9],
      ]),
    );
    expect(problems).toHaveLength(5);
    expect(problems.find(({ path }) => path === 'temporal.adress')?.hint).toContain("'address'");
    expect(problems.find(({ path }) => path === 'port')?.hint).toContain('api.port');
  });

  it('names the variable of a bad value', () => {
    expect(bad({ env: { SITEWRIGHT_API_PORT: 'http' } })[0]?.message).toContain('SITEWRIGHT_API_PORT');
    expect(bad({ env: { SITEWRIGHT_DEPLOY_MAX_PARALLEL_NODES: '1.5' } })[0]?.path).toBe('deploy.max_parallel_nodes');
    expect(bad({ env: { SITEWRIGHT_DEPLOY_MAX_PARALLEL_NODES: '0' } })).toHaveLength(1);
  });

  it('keeps a configured 0 and reads an empty variable as none', () => {
    expect(good({ env: { SITEWRIGHT_API_PORT: '0', SITEWRIGHT_LOG_LEVEL: '' } }).settings).toMatchObject({
      api: { port: 0 },
      log: { level: 'info' },
    });
  });

  it('requires a named file to exist, the option before the variable', () => {
    expect(bad({ configFile: 'absent.yaml' })[0]?.code).toBe('settings.unreadable-file');
    expect(bad({ env: { SITEWRIGHT_CONFIG: 'absent.yaml' } })[0]?.message).toContain('SITEWRIGHT_CONFIG');
    writeFileSync(join(cwd, 'other.yaml'), 'api: {port: 5}');
    expect(good({ configFile: 'other.yaml', env: { SITEWRIGHT_CONFIG: 'absent.yaml' } }).settings.api.port).toBe(5);
  });

  it.each([
    ['an empty file', ''],
    ['only comments', '# nothing\n'],
    ['sections without values', 'temporal:\nmaas:\n  url:\n'],
  ])('treats %s as no settings', (_, file) => {
    expect(good({ file }).settings.temporal.namespace).toBe('default');
  });

  it.each([
    ['a list', '- 1\n', 'settings.not-a-mapping'],
    ['two documents', 'api: {port: 1}\n---\napi: {port: 2}\n', 'settings.several-documents'],
  ])('refuses %s', (_, file, code) => {
    expect(bad({ file }).map((problem) => problem.code)).toContain(code);
  });

  it('refuses YAML that does not parse, with its line', () => {
    expect(bad({ file: 'api:\n  port: [1\n' })[0]).toMatchObject({ severity: 'error', line: expect.any(Number) });
  });

  it('warns of an unknown variable, since clusters set some, and suggests the nearest', () => {
    const { warnings } = good({ env: { SITEWRIGHT_MAAS_URI: 'x', SITEWRIGHT_CACHE: '/c' } });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.hint).toContain('SITEWRIGHT_MAAS_URL');
  });

  it('refuses a shortest pause longer than the longest', () => {
    expect(bad({ file: 'maas: {poll_min_seconds: 9, poll_max_seconds: 3}' })[0]?.code).toBe('settings.contradiction');
  });

  describe('secrets', () => {
    const secret = 'consumer:token:verysecret';
    const keyFile = (mode: number, text = `${secret}\n`): void => {
      writeFileSync(join(cwd, 'maas.key'), text);
      chmodSync(join(cwd, 'maas.key'), mode);
    };

    it('are read from a file next to the settings file that only its owner may read', () => {
      keyFile(0o600);
      const { settings } = good({ file: 'maas: {key_file: maas.key}' });
      expect(readMaasKey(settings)).toEqual({ ok: true, key: secret });
      keyFile(0o640);
      expect(bad({})[0]).toMatchObject({ code: 'settings.secret-file', hint: `chmod 600 ${join(cwd, 'maas.key')}` });
    });

    it('are refused in the settings file, and never repeated', () => {
      const problems = bad({ file: `maas:\n  key: ${secret}\n` });
      expect(problems[0]).toMatchObject({ code: 'settings.secret-in-file', line: 2 });
      expect(JSON.stringify(problems)).not.toContain('verysecret');
    });

    it('are not repeated when malformed in the environment or the file', () => {
      expect(JSON.stringify(bad({ env: { SITEWRIGHT_MAAS_KEY: 'verysecret' } }))).not.toContain('verysecret');
      keyFile(0o600, 'verysecret');
      const key = readMaasKey(good({ file: 'maas: {key_file: maas.key}' }).settings);
      expect(key.ok).toBe(false);
      expect(JSON.stringify(key)).not.toContain('verysecret');
    });

    it('cannot be given twice', () => {
      keyFile(0o600);
      expect(bad({ file: 'maas: {key_file: maas.key}', env: { SITEWRIGHT_MAAS_KEY: secret } })[0]?.code).toBe(
        'settings.contradiction',
      );
    });

    it('are not shown', () => {
      const env = {
        SITEWRIGHT_MAAS_KEY: secret,
        SITEWRIGHT_STORE_URL: 'postgres://me:verysecret@h/db?password=verysecret',
      };
      const shown = showSettings(good({ env }));
      expect(JSON.stringify(shown)).not.toContain('verysecret');
      expect(shown).toContainEqual({ path: 'maas.key', value: '(set)', origin: 'SITEWRIGHT_MAAS_KEY' });
      expect(shown.find(({ path }) => path === 'store.url')?.value).toBe('postgres://me:***@h/db?password=***');
      expect(shown).toContainEqual({ path: 'maas.url', value: '(none)', origin: 'default' });
    });
  });
});
