// `npm run containers`: the compose project with its profiles `demo` and `master`, run by a container engine. Builds the
// image, starts all services, deploys stl1 while a container is killed and another is upgraded, attacks from `master`,
// takes all down. Prints each command with its time: compose.txt is a transcript. Needs root and podman, and no registry (see stand-ins.ts).
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';
import { readComposeFile, readEnvFile } from '../rig/compose-file.ts';
import { makeStandIns, podmanEnvironment } from './stand-ins.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const COMPOSE = 'podman-compose==1.5.0';
/** Tag and version of the image that a service is upgraded to. */
const NEXT = '1.0.1';
const startedAt = performance.now();

/** Programs and files that this needs, and the Debian packages that have them. */
const NEEDED = {
  podman: 'podman',
  runc: 'runc',
  debootstrap: 'debootstrap',
  pip3: 'python3-pip',
  go: 'golang-go',
  '/usr/libexec/podman/catatonit': 'catatonit',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  '/usr/lib/cni/dnsname': 'golang-github-containernetworking-plugin-dnsname',
} as const;

const seconds = (): string => `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s`;
const say = (line: string): void => console.log(`${seconds()}  ${line}`);

async function missingPackages(): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(NEEDED).map(async ([what, name]) => {
      const isThere = what.startsWith('/')
        ? existsSync(what)
        : await run('sh', ['-c', `command -v ${what}`]).then(
            () => true,
            () => false,
          );
      return isThere ? [] : [name];
    }),
  );
  return found.flat();
}

/** podman-compose of PyPI, in the cache: Debian's knows no profiles. */
async function podmanCompose(): Promise<{ readonly program: string; readonly modules: string }> {
  const modules = join(cacheFolder(), COMPOSE.replace('==', '-'));
  const program = join(modules, 'podman_compose.py');
  if (!existsSync(program))
    await run('pip3', ['install', '--quiet', '--root-user-action', 'ignore', '--target', modules, COMPOSE]);
  return { program, modules };
}

const missing = await missingPackages();
if (missing.length > 0) {
  console.error(`not installed: apt-get install --no-install-recommends ${missing.join(' ')}`);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'sitewright-compose-'));
const project = `sitewright-${process.pid}`;
const { program, modules } = await podmanCompose();
// A separate loopback address: this machine's Temporal and API keep theirs.
const HERE = '127.0.0.77';
const env = {
  ...(await podmanEnvironment(folder)),
  PYTHONPATH: modules,
  HOST_ADDRESS: HERE,
  TEMPORAL_HOST_ADDRESS: HERE,
  TEMPORAL_UI_HOST_ADDRESS: HERE,
};
const { services } = readComposeFile(readEnvFile('deploy/demo.env'));
const ours = services.api?.image ?? '';

/** Output of a command; printed with its time. */
async function shown(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  say(`$ ${[command, ...args].join(' ')}`);
  return quiet(command, args, more);
}

async function quiet(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    const { stdout } = await run(command, args, { cwd: root, env: { ...env, ...more }, maxBuffer: 2 ** 27 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout.slice(-3_000)}${stderr.slice(-5_000)}`);
  }
}

const options = ['--project-name', project, '--env-file', 'deploy/demo.env', '--profile', 'demo'];
const compose = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> => {
  say(`$ podman-compose ${options.slice(2).join(' ')} ${args.join(' ')}`);
  return quiet('python3', [program, ...options, ...args], more);
};
const container = (service: string): string => `${project}_${service}_1`;

/**
 * With podman's `dnsname` a container in two networks asks the name server of one of them, whichever comes first: another engine
 * asks for both.
 */
async function nameDatabase(service: string): Promise<void> {
  const finds = ['exec', container(service), 'getent', 'hosts', 'postgresql'];
  if (await quiet('podman', finds).then(Boolean, () => false)) return;
  const file = (await quiet('podman', ['inspect', '--format', '{{.ResolvConfPath}}', container(service)])).trim();
  const [first = '', second = ''] = readFileSync(file, 'utf8').match(/^nameserver .*$/gm) ?? [];
  // It is mounted into the container: written in place.
  await writeFile(file, `${second}\n${first}\n`);
  await quiet('podman', finds);
}

/** Waits until the health check of each service succeeds; podman without systemd runs none by itself. */
async function healthy(names: readonly string[], limit = 180_000): Promise<void> {
  const deadline = performance.now() + limit;
  for (const name of names) {
    for (;;) {
      const problem = await quiet('podman', ['healthcheck', 'run', container(name)]).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (problem === undefined) break;
      if (performance.now() > deadline) {
        const log = await quiet('podman', ['logs', '--tail', '10', container(name)]).catch(String);
        throw new Error(`${name} is not healthy: ${problem}\n${log}`);
      }
      await delay(1_000);
    }
    say(`${name} is healthy`);
  }
}

let token = '';
const inApi = (args: readonly string[]): string[] => {
  say(`$ podman-compose exec api node bin/sitewright ${args.join(' ')}`);
  return ['exec', '--env', `SITEWRIGHT_TOKEN=${token}`, container('api'), 'node', 'bin/sitewright', ...args];
};
const sitewright = (...args: readonly string[]): Promise<string> => quiet('podman', inApi(args));

/** Runs `site deploy --watch`, and `disturb` as soon as a line of it matches `when`. */
async function deployDisturbed(when: RegExp, disturb: () => Promise<void>): Promise<string> {
  const child = spawn('podman', inApi(['site', 'deploy', 'stl1', '--watch']), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  let disturbed: Promise<void> | undefined;
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      say(line);
      lines.push(line);
      if (when.test(line)) disturbed ??= disturb();
    });
  const code = await ended;
  if (disturbed === undefined) throw new Error(`no line of the run was like ${when}`);
  await disturbed;
  if (code !== 0) throw new Error(`the deployment ended with ${code}:\n${lines.join('\n')}`);
  return lines.at(-1) ?? '';
}

/** The image of a later version: the same program under another number. */
async function makeNext(): Promise<void> {
  const edit = `const f='package.json',fs=require('fs');fs.writeFileSync(f,fs.readFileSync(f,'utf8').replace(/"version": "[^"]+"/,'"version": "${NEXT}"'))`;
  const file = join(folder, 'Dockerfile');
  await writeFile(file, `FROM ${ours}\nUSER root\nRUN ${JSON.stringify(['node', '-e', edit])}\nUSER node\n`);
  await shown('podman', ['build', '--file', file, '--tag', ours.replace(/:.*/, `:${NEXT}`), folder]);
}

async function life(): Promise<void> {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
  const node = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? '';
  const others = Object.entries(services).filter(([, { build }]) => build === undefined);
  await makeStandIns(env, { node, ...Object.fromEntries(others.map(([name, { image = '' }]) => [name, image])) }, say);

  await compose(['--podman-build-args=--network=host', 'build', 'api']);
  const size = Number(await quiet('podman', ['image', 'inspect', '--format', '{{.Size}}', ours]));
  const base = Number(await quiet('podman', ['image', 'inspect', '--format', '{{.Size}}', node]));
  say(`image ${ours}: ${Math.round(size / 1e6)} MB, of which ${Math.round(base / 1e6)} MB are the base image`);

  const from = performance.now();
  // podman-compose does not wait for `service_healthy` with podman before 4.6: here each service waits for its own.
  const waiting = new Map(
    Object.entries(services)
      .filter(([, { profiles = ['demo'] }]) => profiles.includes('demo'))
      .map(([name, { depends_on = {} }]) => [name, Object.keys(depends_on)]),
  );
  while (waiting.size > 0) {
    const ready = [...waiting].filter(([, needs]) => !needs.some((name) => waiting.has(name))).map(([name]) => name);
    await compose(['up', '--detach', '--no-build', '--no-deps', ...ready]);
    if (ready.includes('gateway')) await nameDatabase('gateway');
    await healthy(ready);
    for (const name of ready) waiting.delete(name);
  }
  say(`all services healthy ${((performance.now() - from) / 1000).toFixed(0)} s after \`up\``);

  token = (await sitewright('token', 'bootstrap')).trim();
  await sitewright('site', 'create', 'stl1');
  await sitewright('site', 'commit', 'stl1', 'examples/stl1');

  await makeNext();
  await deployDisturbed(/group/i, async () => {
    // Of the container's first process, like a crash: after \`podman kill\` an engine does not restart anything.
    const pid = (await quiet('podman', ['inspect', '--format', '{{.State.Pid}}', container('worker')])).trim();
    await shown('kill', ['-9', pid]);
    await healthy(['worker']);
    await shown('podman', ['stop', container('gateway')]);
    await compose(['up', '--detach', '--no-deps', '--force-recreate', 'gateway'], { SITEWRIGHT_VERSION: NEXT });
    await nameDatabase('gateway');
    await healthy(['gateway']);
    const version = await quiet('podman', ['exec', container('gateway'), 'node', 'bin/sitewright', 'version']);
    if (!version.includes(NEXT)) throw new Error(`the gateway was not upgraded: ${version}`);
    say(`the gateway is ${version.split('\n')[0]}`);
  });
  say((await sitewright('run', 'list')).trimEnd());
  await attack();
}

/** A task of an operator on `master` that looks for what belongs to the installation. */
const ATTACK = `- id: attack
  type: shell
  version: 2.1.0
  roles: [master]
  parameters:
    timeout: 60
    cmd: |
      exec 2>&1
      cat /proc/*/environ | tr '\\0' '\\n'
      cat /var/lib/sitewright/gateway/* /var/lib/sitewright/task-logs/* /proc/*/"root"/var/lib/sitewright/gateway/*
      SITEWRIGHT_STORE_URL=postgres://sitewright:sitewright@postgresql:5432/sitewright timeout 20 node bin/sitewright token bootstrap --name evil
      echo "attacked as $(id -un) of $(hostname)"
`;

/** From an operator's token to what belongs to the installation, in the container of the service `master-agent`. */
async function attack(): Promise<void> {
  const admin = token;
  await sitewright('package', 'install', 'examples/first-release');
  await sitewright('cluster', 'create', 'lab', '--release', 'first-release');
  await sitewright('node', 'register', '--name', 'node-1', '--provisioned');
  await sitewright('cluster', 'add-nodes', 'lab', '--nodes', 'node-1', '--roles', 'spare');
  token = JSON.parse(await sitewright('token', 'create', '--name', 'otto', '--role', 'operator', '-f', 'json')).token;
  await quiet('podman', ['exec', container('api'), 'sh', '-c', `cat >/tmp/attack.yaml <<'END'\n${ATTACK}END`]);
  const upload = ['graph', 'upload', '--env', 'lab', '--type', 'attack', '--file', '/tmp/attack.yaml'];
  const refused = await sitewright(...upload).then(
    () => '',
    (error: Error) => error.message,
  );
  if (!refused.includes('agent.master')) throw new Error(`by default the graph must be refused: ${refused}`);
  say('by default a graph with a task on `master` is refused');

  const allowed = { SITEWRIGHT_AGENT_MASTER: 'allow' };
  await compose(['up', '--detach', '--no-deps', '--force-recreate', 'api', 'worker'], allowed);
  await healthy(['api', 'worker']);
  const master = ['python3', program, ...options, '--profile', 'master'];
  const made = `podman exec --env SITEWRIGHT_GATEWAY_URL=https://gateway:8443 ${container('gateway')} node bin/sitewright agent token --site _installation --node master`;
  const kept = `${master.join(' ')} run --rm -T --no-deps --entrypoint sh master-agent -c 'umask 077; cat > /var/lib/sitewright/master/ticket.json'`;
  say(
    '$ podman-compose exec gateway … agent token --site _installation --node master | podman-compose run master-agent …',
  );
  await quiet('sh', ['-c', `${made} | ${kept}`]);
  say('$ podman-compose --profile master up --detach --no-deps master-agent');
  await quiet(master[0] as string, [...master.slice(1), 'up', '--detach', '--no-build', '--no-deps', 'master-agent']);
  await healthy(['master-agent']);

  await quiet('podman', ['exec', container('api'), 'sh', '-c', `cat >/tmp/attack.yaml <<'END'\n${ATTACK}END`]);
  await sitewright(...upload);
  await sitewright('graph', 'execute', '--cluster', 'lab', '--type', 'attack', '--wait');
  const [run] = JSON.parse(await sitewright('run', 'list', '-f', 'json')) as { readonly id: string }[];
  const output = await sitewright('run', 'logs', run?.id ?? '', 'attack@master');
  if (!output.includes('attacked as node of')) throw new Error(`the attack did not run: ${output}`);
  const { SITEWRIGHT_MAAS_KEY: maasKey = '' } = readEnvFile('deploy/demo.env');
  const authority = await quiet('podman', [
    'exec',
    container('gateway'),
    'sed',
    '-n',
    '2p',
    '/var/lib/sitewright/gateway/authority.pem',
  ]);
  const loot = {
    'the key of MAAS': maasKey,
    'the key of the authority': authority.trim(),
    'a token of an admin': 'swt_',
    'the settings of the worker': 'SITEWRIGHT_STORE_URL=',
  };
  for (const [what, text] of Object.entries(loot)) {
    if (text === '' || output.includes(text)) throw new Error(`a task on master has ${what}: ${output}`);
    say(`a task on \`master\` cannot get ${what}`);
  }
  token = admin;
}
const interrupted = new Promise<never>((_, fail) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => fail(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => undefined);
try {
  await Promise.race([life(), interrupted]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  if (process.env.KEEP === undefined)
    await compose(['--profile', 'master', 'down', '--volumes', '--timeout', '5']).catch((error: unknown) =>
      console.error(error),
    );
  await rm(folder, { recursive: true, force: true });
}
