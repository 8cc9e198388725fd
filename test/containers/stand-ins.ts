// Makes the images that docker-compose.yml and deploy/Dockerfile name, where no registry can be reached: stand-ins under
// the same names, from Debian's packages, Node.js' npm package and Temporal's Go modules. Kept by podman and in the cache.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder, findTemporalBinary } from '../../src/platform/temporal/find-server.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const DEBIAN = 'localhost/sitewright-stand-in/debian';
const LABEL = 'io.sitewright.stand-in';

/** podman with the options that a machine without systemd and cgroups v2 needs, in a file of `folder`. */
export async function podmanEnvironment(folder: string): Promise<NodeJS.ProcessEnv> {
  const file = join(folder, 'containers.conf');
  await writeFile(
    file,
    `[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=10000:10000"]
`,
  );
  return { ...process.env, CONTAINERS_CONF: file };
}

/**
 * @param env from `podmanEnvironment`
 * @param images service of the compose file to the image that it names; `node`: the image that ours is built from
 */
export async function makeStandIns(
  env: NodeJS.ProcessEnv,
  images: Readonly<Record<string, string>>,
  say: (line: string) => void,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'sitewright-stand-ins-'));
  const podman = (...args: string[]) => run('podman', args, { env, maxBuffer: 2 ** 26 });
  const exists = (image: string) =>
    podman('image', 'exists', image).then(
      () => true,
      () => false,
    );
  try {
    if (!(await exists(DEBIAN))) {
      say('stand-in of Debian: debootstrap');
      await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', join(work, 'debian')]);
      // The certificates of this machine: a registry behind a proxy is trusted there as it is here.
      await cp('/etc/ssl/certs/ca-certificates.crt', join(work, 'debian/etc/ssl/certs/ca-certificates.crt'));
      await run('tar', ['--create', '--file', join(work, 'debian.tar'), '--directory', join(work, 'debian'), '.']);
      await podman(
        'import',
        '--change',
        'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
        join(work, 'debian.tar'),
        DEBIAN,
      );
      await rm(join(work, 'debian'), { recursive: true });
    }
    for (const [service, image] of Object.entries(images)) {
      if (await exists(image)) continue;
      const kind = KINDS[service];
      if (kind === undefined) throw new Error(`there is no stand-in for ${image}, which the service ${service} runs`);
      say(`stand-in of ${image}`);
      const context = join(work, service);
      await mkdir(context);
      await kind.fill(context, image);
      const file = join(here, `${kind.file}.Dockerfile`);
      const tag = image.includes('/') ? `docker.io/${image}` : `docker.io/library/${image}`;
      await podman('build', '--network', 'host', '--label', `${LABEL}=1`, '--file', file, '--tag', tag, context);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A package `nodejs` with this Node.js, which Debian's is older than. @param work where it is put together */
export async function packNode(work: string, file: string): Promise<void> {
  const tree = await mkdtemp(join(work, 'nodejs-'));
  await mkdir(join(tree, 'DEBIAN'));
  await mkdir(join(tree, 'usr/bin'), { recursive: true });
  await cp(process.execPath, join(tree, 'usr/bin/node'));
  const { stdout: architecture } = await run('dpkg', ['--print-architecture']);
  const fields = { Package: 'nodejs', Version: `${process.versions.node}-1`, Architecture: architecture.trim() };
  const more = { Maintainer: 'Tests <tests@sitewright.example>', Description: 'stand-in for Node.js' };
  const lines = Object.entries({ ...fields, ...more }).map(([key, value]) => `${key}: ${value}\n`);
  await writeFile(join(tree, 'DEBIAN/control'), lines.join(''));
  await run('chmod', ['755', tree]);
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, file]);
  await rm(tree, { recursive: true });
}

type Fill = (context: string, image: string) => Promise<void>;

const entrypoint =
  (name: string): Fill =>
  (context) =>
    cp(join(here, name), join(context, name));

/** Files for the stand-in of a service's image, in addition to its Dockerfile. */
const KINDS: Readonly<Record<string, { readonly file: string; readonly fill: Fill }>> = {
  node: { file: 'node', fill: nodeFiles },
  postgresql: { file: 'postgres', fill: entrypoint('postgres-entrypoint') },
  temporal: { file: 'auto-setup', fill: temporalFiles },
  'temporal-ui': { file: 'ui', fill: uiFiles },
  systemd: { file: 'systemd', fill: async () => undefined },
};

/** Node.js as its npm package has it, with the headers that compile the SQLite driver. */
async function nodeFiles(context: string, image: string): Promise<void> {
  const version = /:([\d.]+)/.exec(image)?.[1];
  const work = join(context, 'work');
  await mkdir(work);
  const { stdout } = await run('npm', ['pack', '--silent', `node-linux-${process.arch}@${version}`], { cwd: work });
  await run('tar', ['--extract', '--file', join(work, stdout.trim()), '--directory', work]);
  await cp(join(work, 'package'), join(context, 'node'), { recursive: true });
  const npm = dirname(dirname((await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).stdout.trim()));
  await cp(npm, join(context, 'node/lib/node_modules/npm'), { recursive: true, dereference: true });
  await rm(work, { recursive: true });
}

async function temporalFiles(context: string, image: string): Promise<void> {
  const version = /:([\d.]+)/.exec(image)?.[1];
  if (version === undefined) throw new Error(`${image} names no version`);
  await run('bash', [join(root, '.ci/temporal-server'), version], { maxBuffer: 2 ** 26 });
  await cp(join(cacheFolder(), `temporal-server-${version}`), join(context, 'temporal'), { recursive: true });
  const cli = await findTemporalBinary();
  if (cli.status === 'missing') throw new Error("Temporal's command line is missing, which the health check calls");
  await cp(cli.path, join(context, 'temporal-cli'));
  await entrypoint('auto-setup-entrypoint')(context, image);
}

async function uiFiles(context: string, image: string): Promise<void> {
  const version = image.split(':')[1];
  const module = 'github.com/temporalio/ui-server/v2';
  const built = join(cacheFolder(), `temporal-ui-${version}`);
  const env = { ...process.env, CGO_ENABLED: '0', GOBIN: built };
  await run('go', ['install', '-buildvcs=false', `${module}/cmd/server@v${version}`], { env, maxBuffer: 2 ** 26 });
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@v${version}`], { cwd: built });
  await mkdir(join(context, 'ui/config'), { recursive: true });
  await cp(join(built, 'server'), join(context, 'ui/server'));
  await cp(
    join((JSON.parse(stdout) as { readonly Dir: string }).Dir, 'config/docker.yaml'),
    join(context, 'ui/config/docker.yaml'),
  );
}

// node test/containers/stand-ins.ts FOLDER SERVICE=IMAGE...: makes them, and prints the file of FOLDER that configures podman.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder = '.', ...images] = process.argv;
  const env = await podmanEnvironment(folder);
  await makeStandIns(env, Object.fromEntries(images.map((image) => image.split('=', 2))), console.error);
  console.log(env.CONTAINERS_CONF);
}
