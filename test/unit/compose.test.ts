import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, usablePolicy } from '../../src/agent/onboarding/node-policy.ts';
import { createProgram } from '../../src/cli/program.ts';
import { loadSite, readDocumentFiles } from '../../src/documents/index.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import { readComposeFile, readEnvFile, variablesOf } from '../rig/compose-file.ts';
import { recordingTerminal } from './cli/recording-terminal.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const text = read('docker-compose.yml');
const compose = readComposeFile();
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
/** The services that run the simulator, or because of it. */
const demo = ['agents', 'maas-simulator'];

/** Whether a build of the image finds the path: .dockerignore admits it or a folder that contains it. */
function isInContext(path: string): boolean {
  return read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .some((line) => {
      const pattern = line.slice(1).replaceAll('.', '\\.').replaceAll('*', '[^/]*');
      return new RegExp(`^${pattern}(?:/|$)`).test(path);
    });
}

describe('docker-compose.yml', () => {
  it('is a file of the Compose specification', () => {
    const { $schema: _draft, ...schema } = JSON.parse(read('test/data/compose/compose-spec.json'));
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
    // The schema is in force: it refuses anything but Compose.
    expect(validate({ ...compose, servises: {} })).toBe(false);
    expect(validate({ services: { api: { healthcheck: { tests: [] } } } })).toBe(false);
  });

  it('has every process, and otherwise only those of the demo', () => {
    expect(services.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name)).toEqual([
      'postgresql',
      'temporal',
      'temporal-ui',
      'temporal-ui-guard',
      'api',
      'worker',
      'gateway',
    ]);
    expect(services.filter(([, { profiles }]) => profiles?.includes('demo')).map(([name]) => name)).toEqual(
      expect.arrayContaining(demo),
    );
  });

  it('has the agent of `master` on request, with no volume, variable or network of what is worth protecting', () => {
    const { 'master-agent': agent, ...others } = compose.services;
    expect(agent!.profiles).toEqual(['master']);
    const volumeOf = (volume: string) => volume.split(':')[0]!;
    const theirs = Object.values(others).flatMap(({ volumes = [] }) => volumes.map(volumeOf));
    expect(agent!.volumes!.map(volumeOf).filter((volume) => theirs.includes(volume))).toEqual([]);
    const allowed = /^SITEWRIGHT_(?:LOG_|TEMPORAL_ADDRESS$|AGENT_STATE_DIR$)/;
    expect(Object.keys(agent!.environment!).filter((name) => !allowed.test(name))).toEqual([]);
    expect([agent!.network_mode, agent!.ports]).toEqual([undefined, undefined]);
    const reached = Object.entries(others).filter(
      ([, { networks = ['default'], network_mode }]) =>
        network_mode === undefined && networks.some((network) => agent!.networks!.includes(network)),
    );
    expect(reached.map(([name]) => name)).toEqual(['temporal', 'gateway']);
    const [policy] = agent!.command!.slice(-1);
    expect(usablePolicy(fileURLToPath(new URL(policy!, root)))).toEqual(DEFAULT_POLICY);
  });

  it('keeps ended runs in Temporal for as long as the doctor expects', () => {
    const loaded = loadSettings({ env: {}, cwd: '/' });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const hours = 24 * loaded.settings.temporal.retention_days;
    expect(compose.services.temporal!.environment!.DEFAULT_NAMESPACE_RETENTION).toBe(`${hours}h`);
  });

  it('has a PostgreSQL with enough connections', () => {
    const [, most = ''] = /max_connections=(\d+)/.exec((compose.services.postgresql!.command ?? []).join(' ')) ?? [];
    const withStore = ours.filter(([, { environment }]) => environment?.SITEWRIGHT_STORE_URL !== undefined);
    // Of Temporal: four services with a pool for each of two databases. Of ours: three more workers and an API.
    expect(Number(most)).toBeGreaterThanOrEqual(4 * 2 * 20 + 10 * (withStore.length + 4));
  });

  it.each(services)('%s has a pinned image, a health check and no port open to other machines', (name, service) => {
    expect(service.image).toMatch(/^[\w./-]+:\d+\.\d+[\w.-]*$/);
    expect(service.healthcheck?.test[0], name).toBe('CMD');
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('opens API and gateway to a network without Temporal and its Web UI, which know no users', () => {
    const opened = Object.entries(readComposeFile({ HOST_ADDRESS: '0.0.0.0' }).services).filter(([, { ports = [] }]) =>
      ports.some((port) => !port.startsWith('127.0.0.1:')),
    );
    expect(opened.map(([name]) => name)).toEqual(['api', 'gateway']);
  });

  it('serves Temporal’s Web UI through its guard alone', () => {
    const { 'temporal-ui': ui, 'temporal-ui-guard': guard } = compose.services;
    const settings = load(read('deploy/temporal/ui.yaml')) as { host: string; port: number };
    expect(ui?.volumes).toEqual(['./deploy/temporal/ui.yaml:/home/ui-server/config/docker.yaml:ro']);
    expect(settings.host).toBe('127.0.0.1');
    expect(guard).toMatchObject({ network_mode: 'service:temporal-ui' });
    expect(guard?.command?.slice(0, 5)).toEqual([
      'guard-ui',
      '--listen',
      `0.0.0.0:${ui?.ports?.[0]?.split(':').at(-1)}`,
      '--target',
      `127.0.0.1:${settings.port}`,
    ]);
  });

  it.each(services)('%s waits for existing services to be healthy', (_name, service) => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services[other]?.healthcheck).toBeDefined();
      expect(condition).toBe('service_healthy');
      // Services that always run must not wait for those that a profile may leave out.
      if (service.profiles === undefined) expect(compose.services[other]?.profiles).toBeUndefined();
    }
  });

  it.each(services)('%s mounts existing files and declared volumes', (_name, service) => {
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('.')) expect(existsSync(new URL(source, root)), source).toBe(true);
      else expect(compose.volumes).toHaveProperty(source);
    }
  });

  it('declares no unused volume', () => {
    const mounted = services.flatMap(([, { volumes }]) => (volumes ?? []).map((volume) => volume.split(':')[0]));
    expect(Object.keys(compose.volumes).filter((name) => !mounted.includes(name))).toEqual([]);
  });

  it.each(ours)(
    '%s runs a command that exists, with settings that exist',
    async (_name, { command, entrypoint, environment }) => {
      const words = entrypoint === undefined ? command! : [...entrypoint.slice(5), ...command!];
      let group = await createProgram(recordingTerminal());
      let depth = 0;
      for (const word of words) {
        const next = group.commands.find((one) => one.name() === word);
        if (next === undefined) break;
        group = next;
        depth += 1;
      }
      expect(depth, words.join(' ')).toBeGreaterThan(0);
      const known = new Set(group.options.flatMap(({ long, short }) => [long, short]));
      expect(words.slice(depth).filter((word) => word.startsWith('--') && !known.has(word))).toEqual([]);
      expect(loadSettings({ env: { ...environment }, cwd: fileURLToPath(root) })).toMatchObject({
        ok: true,
        warnings: [],
      });
    },
  );

  it.each(ours)('%s may not gain privileges', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    // Its output is in a volume, in a folder that the image gives to its user.
    const folders = read('deploy/Dockerfile')
      .match(/mkdir -p ([^\\]+)/)?.[1]
      ?.trim()
      .split(' ');
    for (const volume of service.volumes ?? []) expect(folders).toContain(volume.split(':')[1]);
    for (const value of Object.values(service.environment ?? {}))
      if (/^\/var\//.test(value)) expect(service.volumes?.map((volume) => volume.split(':')[1])).toContain(value);
  });

  it('the API authenticates its callers, as it must beyond the loopback address', () => {
    expect(compose.services.api?.environment).toMatchObject({
      SITEWRIGHT_API_HOST: '0.0.0.0',
      SITEWRIGHT_ACCESS_TOKENS: 'on',
    });
  });

  it('every variable has a default, and the demo’s file sets only variables there are', () => {
    const variables = variablesOf(text);
    expect([...variables].filter(([, fallback]) => fallback === undefined)).toEqual([]);
    expect(Object.keys(readEnvFile('deploy/demo.env')).filter((name) => !variables.has(name))).toEqual([]);
    expect(text.match(/\$\{/g)).toHaveLength([...text.matchAll(/\$\{[A-Z_]+:-[^}]*\}/g)].length);
  });

  it('the demo has the machines and agents of the example site, and the simulator’s key', async () => {
    const { files } = await readDocumentFiles([fileURLToPath(new URL('examples/stl1', root))]);
    const exampleHosts = loadSite(files).site?.nodes.map(({ hostname }) => hostname);
    const { machines } = JSON.parse(read('deploy/stl1-machines.json')) as { machines: { hostname: string }[] };
    expect(machines.map(({ hostname }) => hostname)).toEqual(exampleHosts);
    expect(compose.services.agents?.command?.filter((word) => word.startsWith('stl1r'))).toEqual(exampleHosts);
    const withDemo = readComposeFile(readEnvFile('deploy/demo.env'));
    for (const name of ['api', 'worker'])
      expect(withDemo.services[name]?.environment?.SITEWRIGHT_MAAS_KEY).toBe(simulatorKeys.admin);
    // The keys of the simulator are well known: only its own network reaches it.
    expect(compose.services['maas-simulator']?.ports).toBeUndefined();
  });
});

describe('deploy/Dockerfile', () => {
  const dockerfile = read('deploy/Dockerfile');
  const last = dockerfile.split(/^FROM /m).at(-1)!;

  it('builds in one stage and runs in another, as an unprivileged user, with a health check', () => {
    expect(dockerfile.match(/^FROM /gm)?.length).toBe(2);
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-\w+-slim$/m);
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect(dockerfile).toMatch(/npm ci/);
    expect(dockerfile).toMatch(/npm prune --omit=dev/);
    expect(last).not.toMatch(/npm |apt-get/);
  });

  it('copies only existing files of the build’s context', () => {
    for (const [, paths = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
      for (const path of paths.split(' ').filter((one) => one !== '.')) {
        expect(existsSync(new URL(path, root)), path).toBe(true);
        expect(isInContext(path), path).toBe(true);
      }
    // The content of the image, except the files that its build makes.
    for (const [, path = ''] of last.matchAll(/\/app\/([\w.-]+)/g))
      if (!['dist', 'node_modules'].includes(path)) expect(isInContext(path), path).toBe(true);
  });

  it('has a context with all sources of the build, and only tracked files', () => {
    const build = read('scripts/freshness.mjs').match(/const SOURCES = \[([^\]]+)\]/)?.[1] ?? '';
    const sources = [...build.matchAll(/'([^']+)'/g)].map(([, source]) => source!);
    expect(sources.length).toBeGreaterThan(4);
    expect(sources.filter((source) => !isInContext(source))).toEqual([]);
    const tracked = execFileSync('git', ['ls-files', 'deploy'], { cwd: fileURLToPath(root), encoding: 'utf8' });
    expect(tracked).toContain('deploy/health.mjs');
  });
});
