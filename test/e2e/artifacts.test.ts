import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { makeStandIns, packNode, podmanEnvironment } from '../containers/stand-ins.ts';
import { helm, type Manifest } from '../rig/helm.ts';

/*
 * Each artifact of a release, installed in an empty container by the command that its page names, deploys the example site.
 * SITEWRIGHT_TEST_ARTIFACTS=FOLDER is what `npm run artifacts` made: `.ci/nightly artifacts` makes and tests it. Needs root and podman;
 * images that only a registry has are stand-ins.
 */
const release = process.env.SITEWRIGHT_TEST_ARTIFACTS;
const LIMIT = 1_500_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
const IMAGE = `localhost/sitewright:${version}`;
const NODE_20 = 'node:20.20.2-bookworm-slim';
const SYSTEMD = 'sitewright/systemd:bookworm';
const POSTGRES = 'postgres:16.10-bookworm';
/** The public key of the simulator. */
const KEY = 'consumerkeyadmin01:tokenkeyadmin00001:tokensecretadmin0000000000000001';
const SIMULATOR = ['maas', 'simulate', '--port', '5240', '--auto', '{"commission_ms": 1000, "deploy_ms": 2000}'];
const TEMPORAL = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'error'];

/** A named one, which outlives its containers. */
const VOLUME = `sitewright-artifacts-${process.pid}`;

const artifact = (name: string): string => join(resolve(root, release ?? ''), name);
const debian = version.replace('-', '~');

let folder: string;
let env: NodeJS.ProcessEnv;
const containers: string[] = [];

async function podman(...args: readonly string[]): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)('podman', args, { env, maxBuffer: 2 ** 26 });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`podman ${args.join(' ')} failed:\n${stdout.slice(-6_000)}${stderr.slice(-6_000)}`);
  }
}

/** Starts a container that runs until the end of the tests. @returns its name */
async function start(name: string, ...args: readonly string[]): Promise<string> {
  const full = `sitewright-artifacts-${process.pid}-${name}`;
  containers.push(full);
  await podman(
    'run',
    '--detach',
    '--name',
    full,
    '--volume',
    `${inject('temporalBinary')}:/usr/local/bin/temporal:ro`,
    ...args,
  );
  return full;
}

/** Asks until a command of a container succeeds; the container itself must be there. */
async function succeeds(container: string, ...command: readonly string[]): Promise<string> {
  for (;;) {
    try {
      return await podman('exec', container, ...command);
    } catch (error) {
      const state = await podman('inspect', '--format', '{{.State.Running}}', container);
      if (state.trim() !== 'true') throw new Error(`${error}\n${await podman('logs', '--tail', '30', container)}`);
      await delay(500);
    }
  }
}

/** Creates, commits and deploys stl1 by the command line of a container; a run that fails is an exit code. */
async function deploys(container: string, cli: string, documents: string): Promise<void> {
  const commands = ['site create stl1', `site commit stl1 ${documents}`, 'site deploy stl1 --wait', 'run report stl1'];
  const said = await podman(
    'exec',
    container,
    'bash',
    '-ec',
    commands.map((command) => `${cli} ${command}`).join('\n'),
  );
  expect(said).toMatch(/deploy_site of stl1: success\n/);
  expect(said).toContain('deploy_site of stl1 revision 1: success');
  expect(said).toMatch(/^ +success +6 /m);
}

beforeAll(async () => {
  if (release === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sitewright-artifacts-'));
  env = await podmanEnvironment(folder);
  await makeStandIns(env, { node: NODE_20, systemd: SYSTEMD, postgresql: POSTGRES }, () => {});
  await podman('load', '--input', artifact(`sitewright-image-${version}.tar`));
}, LIMIT);

afterAll(async () => {
  for (const name of containers.reverse()) await podman('rm', '--force', '--time', '0', '--volumes', name);
  if (release !== undefined) await podman('volume', 'rm', '--force', VOLUME);
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(release === undefined)('an artifact in an empty container', { timeout: LIMIT }, () => {
  it('is listed with its checksum', async () => {
    const run = promisify(execFile);
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: artifact('.') });
    const listed = stdout.split('\n').flatMap((line) => /^(.+): OK$/.exec(line)?.[1] ?? []);
    const { stdout: architecture } = await run('dpkg', ['--print-architecture']);
    expect(listed.sort()).toEqual(
      [
        `sitewright-${version}.cdx.json`,
        `sitewright-${version}.tgz`,
        `sitewright-agent-${version}.tgz`,
        `sitewright-agent_${debian}_${architecture.trim()}.deb`,
        `sitewright-chart-${version}.tgz`,
        `sitewright-image-${version}.tar`,
        `sitewright_${debian}_${architecture.trim()}.deb`,
      ].sort(),
    );
  });

  it('npx runs the demo of the npm package in an empty folder, on Node.js 20', async () => {
    const name = `sitewright-${version}.tgz`;
    // A registry is reached through the host; Temporal's server is on the PATH, as where it is installed.
    const empty = await start('npx', '--network', 'host', '--workdir', '/srv', NODE_20, 'sleep', 'infinity');
    await podman('cp', artifact(name), `${empty}:/srv/${name}`);
    expect(await podman('exec', empty, 'node', '--version')).toMatch(/^v20\./);
    const said = await podman('exec', empty, 'npx', `./${name}`, 'demo');
    expect(said).toMatch(/Fetching Node\.js 24/);
    expect(said).toContain('deploy_site of stl1 revision 1: success with failures');
    // The printed commands can be typed.
    const [, alias] = /^ *alias sitewright=(\S+)$/m.exec(said) ?? [];
    expect(await podman('exec', empty, alias ?? '', 'version')).toContain(version);
  });

  it('podman run starts the processes of the image', async () => {
    const state = join(folder, 'image');
    mkdirSync(state);
    const net = await start('temporal', '--network', 'none', '--entrypoint', 'temporal', IMAGE, ...TEMPORAL);
    const shared = ['--network', `container:${net}`, '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'];
    const volume = ['--volume', `${VOLUME}:/var/lib/sitewright`];
    await start('maas', ...shared, IMAGE, ...SIMULATOR, '--seed', 'deploy/stl1-machines.json');
    const settings = Object.entries({
      TEMPORAL_ADDRESS: '127.0.0.1:7233',
      STORE_URL: 'sqlite:/var/lib/sitewright/sitewright.db',
      TASK_LOGS_FOLDER: '/var/lib/sitewright/task-logs',
      AGENT_STATE_DIR: '/var/lib/sitewright/agents',
      MAAS_URL: 'http://127.0.0.1:5240/MAAS',
      MAAS_KEY: KEY,
      MAAS_POLL_MIN_SECONDS: '0.5',
    }).flatMap(([name, value]) => ['--env', `SITEWRIGHT_${name}=${value}`]);
    await succeeds(net, 'temporal', 'operator', 'namespace', 'describe', 'default');
    const api = await start('api', ...shared, ...volume, ...settings, IMAGE, 'api');
    await succeeds(api, 'node', 'deploy/health.mjs', 'http', 'http://127.0.0.1:8080/health/live');
    const worker = await start('worker', ...shared, ...volume, ...settings, IMAGE, 'worker');
    await succeeds(worker, 'node', 'deploy/health.mjs', 'polls', 'sitewright');
    await deploys(api, 'node bin/sitewright', 'examples/stl1');
  });

  it('apt installs the Debian packages, whose services run', async () => {
    const machine = await start(
      'debian',
      ...['--network', 'none', '--systemd', 'always', '--hostname', 'one'],
      ...['--cap-add', 'NET_ADMIN,NET_RAW,SYS_ADMIN,SYS_BOOT,SYS_PTRACE', SYSTEMD],
    );
    await succeeds(machine, 'systemctl', 'is-system-running');
    // Debian's Node.js is older.
    await packNode(folder, join(folder, 'nodejs.deb'));
    for (const file of [join(folder, 'nodejs.deb'), join(root, 'examples/stl1')])
      await podman('cp', file, `${machine}:/srv/`);
    await podman('cp', artifact('.'), `${machine}:/srv/release`);
    await podman('cp', join(root, 'deploy/stl1-machines.json'), `${machine}:/srv/machines.json`);
    const said = await podman(
      'exec',
      machine,
      'bash',
      '-exc',
      `
      cd /srv
      apt-get install --yes --no-install-recommends ./nodejs.deb ./release/sitewright_*.deb ./release/sitewright-agent_*.deb
      systemctl enable --now --quiet sitewright-temporal
      systemd-run --quiet --unit simulator --uid sitewright sitewright ${SIMULATOR.map((word) => `'${word}'`).join(' ')} --seed /srv/machines.json
      install --owner sitewright --mode 600 /dev/stdin /etc/sitewright/maas.key <<<'${KEY}'
      printf 'maas:\\n  url: http://127.0.0.1:5240/MAAS\\n  key_file: maas.key\\n  poll_min_seconds: 0.5\\n' >>/etc/sitewright/sitewright.yaml
      systemctl restart sitewright-api sitewright-worker
      systemctl is-enabled sitewright-agent
      sitewright version; sitewright-agent --help | head -3; grep -Po '"version": "\\K[^"]+' /usr/lib/sitewright-agent/package.json
    `,
    );
    expect(said.split('\n').filter((line) => line === version)).toHaveLength(2);
    const token = await succeeds(machine, 'runuser', '-u', 'sitewright', '--', 'sitewright', 'token', 'bootstrap');
    const cli = `SITEWRIGHT_TOKEN=${/^\S{20,}$/m.exec(token)?.[0]} sitewright`;
    await succeeds(machine, 'bash', '-ec', `${cli} doctor --format json | grep -q '"temporal"'; ${cli} site list`);
    await deploys(machine, cli, '/srv/stl1');
  });

  it('the pods that helm renders from the chart run', async () => {
    const secrets: Record<string, Record<string, string>> = {
      store: { url: 'postgres://sitewright:word@127.0.0.1/sitewright' },
      maas: { 'api-key': KEY },
    };
    const values = join(folder, 'values.yaml');
    writeFileSync(
      values,
      JSON.stringify({
        image: { repository: 'localhost/sitewright' },
        settings: {
          temporal: { address: '127.0.0.1:7233' },
          maas: { url: 'http://127.0.0.1:5240/MAAS', poll_min_seconds: 0.5 },
        },
        files: { 'maas.key_file': { secret: 'maas', key: 'api-key' } },
        store: { secret: { name: 'store' } },
        gateway: { enabled: false },
      }),
    );
    const chart = artifact(`sitewright-chart-${version}.tgz`);
    const objects = loadAll(
      await helm('template', 'metal', chart, '--values', values, '--kube-version', '1.30.0'),
    ) as Manifest[];
    const net = await start('kube-temporal', '--network', 'none', '--entrypoint', 'temporal', IMAGE, ...TEMPORAL);
    const shared = ['--network', `container:${net}`];
    const database = ['POSTGRES_USER=temporal', 'POSTGRES_PASSWORD=word', 'SITEWRIGHT_DATABASE_PASSWORD=word'];
    const scripts = `${join(root, 'deploy/postgresql')}:/docker-entrypoint-initdb.d:ro`;
    const store = await start(
      'kube-store',
      ...shared,
      ...['--volume', scripts, ...database.flatMap((one) => ['--env', one]), POSTGRES],
    );
    await start('kube-maas', ...shared, IMAGE, ...SIMULATOR, '--seed', 'deploy/stl1-machines.json');
    await succeeds(store, 'pg_isready', '--host', '127.0.0.1', '--username', 'sitewright');
    await succeeds(net, 'temporal', 'operator', 'namespace', 'describe', 'default');

    const migrations = podOf(objects, 'migrations', secrets);
    await podman('run', '--rm', ...shared, ...migrations);
    const api = await start('kube-api', ...shared, ...podOf(objects, 'api', secrets));
    await succeeds(api, 'node', 'deploy/health.mjs', 'http', 'http://127.0.0.1:8080/health/live');
    const worker = await start('kube-worker', ...shared, ...podOf(objects, 'worker', secrets));
    await succeeds(worker, 'node', 'deploy/health.mjs', 'polls', 'sitewright');
    const token = await podman('exec', api, 'node', 'bin/sitewright', 'token', 'bootstrap');
    await deploys(api, `SITEWRIGHT_TOKEN=${/^\S{20,}$/m.exec(token)?.[0]} node bin/sitewright`, 'examples/stl1');
  });
});

interface Pod {
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup: number };
  readonly containers: readonly {
    readonly name: string;
    readonly image: string;
    readonly args: readonly string[];
    readonly securityContext: {
      readonly readOnlyRootFilesystem: boolean;
      readonly capabilities: { readonly drop: string[] };
    };
    readonly env?: readonly {
      readonly name: string;
      readonly value?: string;
      readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
    }[];
    readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly projected?: {
      readonly defaultMode: number;
      readonly sources: readonly {
        readonly secret: {
          readonly name: string;
          readonly items: readonly { readonly key: string; readonly path: string }[];
        };
      }[];
    };
  }[];
}

/** What a kubelet does with the container of a pod, as arguments of `podman run`: user, variables, files of secrets, volumes. */
function podOf(
  objects: readonly Manifest[],
  component: string,
  secrets: Record<string, Record<string, string>>,
): string[] {
  const owner = objects.find((one) => one?.spec?.template?.spec?.containers?.[0]?.name === component);
  const pod = owner?.spec.template.spec as Pod;
  const [container] = pod.containers;
  const { image, args, env: variables = [], envFrom = [], volumeMounts, securityContext } = container!;
  const maps = envFrom.map(
    ({ configMapRef }) =>
      objects.find((one) => one?.kind === 'ConfigMap' && one.metadata.name === configMapRef.name)?.data,
  );
  const values = Object.entries<string>({
    ...Object.assign({}, ...maps),
    ...Object.fromEntries(
      variables.map(({ name, value, valueFrom }) => [
        name,
        value ?? secrets[valueFrom!.secretKeyRef.name]![valueFrom!.secretKeyRef.key]!,
      ]),
    ),
  });
  const user = pod.securityContext;
  const mounts = volumeMounts.flatMap(({ name, mountPath }) => {
    const { projected } = pod.volumes?.find((one) => one.name === name) ?? {};
    if (projected === undefined) return ['--tmpfs', `${mountPath}:mode=1777`];
    const place = join(folder, component, name);
    for (const { secret } of projected.sources)
      for (const { key, path } of secret.items) {
        mkdirSync(join(place, path, '..'), { recursive: true });
        writeFileSync(join(place, path), secrets[secret.name]![key]!);
        // Of root, and for the group of the pod. YAML of Kubernetes has octal numbers with a zero in front.
        chownSync(join(place, path), 0, user.fsGroup);
        chmodSync(join(place, path), Number.parseInt(String(projected.defaultMode), 8));
      }
    return ['--volume', `${place}:${mountPath}:ro`];
  });
  return [
    ...['--user', `${user.runAsUser}:${user.runAsGroup}`, '--security-opt', 'no-new-privileges'],
    ...(securityContext.readOnlyRootFilesystem ? ['--read-only'] : []),
    ...securityContext.capabilities.drop.flatMap((one) => ['--cap-drop', one]),
    ...values.flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...mounts,
    image,
    ...args,
  ];
}
