import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFailed, outputOf, type Podman, type RunCommand } from './podman.ts';
import { processName, removeAbandoned } from './process-name.ts';

/** Packages in the root file system of machines, in addition to the base system. */
export interface ImageContent {
  /** Packages that are installed in it. */
  readonly packages: readonly string[];
  /** Packages that it only brings along, so that apt installs them without the network. */
  readonly archives: readonly string[];
}

/** Packages of every machine: systemd, cloud-init, and programs that user data and the agent call. */
const BASE = [
  'ca-certificates',
  'cloud-init',
  'curl',
  'dbus',
  'iproute2',
  'iputils-ping',
  'perl-base',
  'procps',
  'python3',
  'rsync',
  'systemd',
  'systemd-sysv',
  'util-linux',
  'xz-utils',
];

/**
 * cloud-init's configuration of the image. Addresses are set before the start by the container's networks, as MAAS'
 * own configuration of curtin does it on hardware.
 */
const CLOUD_CONFIG = `datasource_list: [NoCloud]
network: {config: disabled}
apt: {preserve_sources_list: true}
locale: C.UTF-8
ssh_genkeytypes: []
preserve_hostname: true
`;

/** Documentation and translations are a third of the files. A machine that loses its power here loses no disk. */
const DPKG_CONFIG = `force-unsafe-io
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/locale/*
`;

/**
 * Keeps only installed and added packages in apt's lists: reading all of Debian takes apt seconds, at each call.
 * `apt-get update` brings the others.
 */
const SHORT_LISTS = `for file in /var/cache/apt/archives/*.deb; do
  if [ -e "$file" ]; then dpkg-deb --field "$file" Package; fi
done >/tmp/names
dpkg-query --show --showformat '\${Package}\\n' >>/tmp/names
for list in /var/lib/apt/lists/*_Packages; do
  awk 'FILENAME == "/tmp/names" { known[$1] = 1; next } /^Package: / { keep = $2 in known } keep' /tmp/names "$list" >/tmp/list
  mv /tmp/list "$list"
done
rm -f /tmp/names /var/lib/apt/lists/*_Translation-*
apt-cache gencaches`;

/** Programs that making and running machines needs, and the Debian packages that have them. */
const NEEDED = {
  ...{ podman: 'podman', runc: 'runc', debootstrap: 'debootstrap', tar: 'tar', ip: 'iproute2' },
  ...{ unshare: 'util-linux', setpriv: 'util-linux' },
} as const;

/** Why this machine cannot have containers, with the next step; undefined where it can. */
export async function whyNoContainers(run: RunCommand): Promise<string | undefined> {
  if (process.platform !== 'linux') return `containers need Linux, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'root is needed to make root file systems and networks: run it as root';
  const missing: string[] = [];
  for (const [program, name] of Object.entries(NEEDED)) {
    if ((await run('sh', ['-c', `command -v ${program}`])).code !== 0) missing.push(name);
  }
  // CNI's plugins are no program on PATH; podman 5 uses netavark instead.
  const networking = ['/usr/lib/cni/bridge', '/usr/lib/podman/netavark', '/usr/libexec/podman/netavark'];
  if (!networking.some((path) => existsSync(path))) missing.push('containernetworking-plugins');
  return missing.length === 0
    ? undefined
    : `not installed: apt-get install --no-install-recommends ${missing.join(' ')}`;
}

/**
 * The image of machines, made by debootstrap from the package sources of this machine. Its root file system is kept
 * in `cache`, by its content.
 *
 * @returns the name of the image for podman
 * @throws CommandFailed where a step of making it fails
 */
export async function machineImage(
  run: RunCommand,
  podman: Podman,
  cache: string,
  content: ImageContent,
  say: (line: string) => void,
): Promise<string> {
  const codename = /^VERSION_CODENAME=(\S+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  if (codename === undefined) throw new CommandFailed('/etc/os-release names no release of Debian or Ubuntu');
  const packages = [...new Set([...BASE, ...content.packages])].sort();
  const archives = [...new Set(content.archives)].sort();
  const recipe = JSON.stringify([codename, packages, archives, CLOUD_CONFIG, DPKG_CONFIG, SHORT_LISTS]);
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 12);
  const image = `localhost/sitewright/machine:${key}`;
  if ((await run('podman', ['image', 'exists', image])).code === 0) return image;
  const file = join(cache, `${codename}-${key}.tar`);
  if (!existsSync(file)) {
    say('making the root file system of machines: some minutes, once');
    await makeRootFilesystem(run, file, codename, packages, archives);
  }
  await podman('import', '--change', 'CMD ["/sbin/init"]', file, image);
  return image;
}

/**
 * A command whose mounts no one else sees, and that ends with this process and all its children: the folder can then be
 * removed without reaching into its mounts.
 */
const alone = (program: string, args: readonly string[]): [program: string, args: readonly string[]] => [
  'setpriv',
  ['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child', program, ...args],
];

async function makeRootFilesystem(
  run: RunCommand,
  file: string,
  codename: string,
  packages: readonly string[],
  archives: readonly string[],
): Promise<void> {
  const folder = join(file, '..');
  await mkdir(folder, { recursive: true });
  await removeAbandoned(folder, 'making-');
  const work = await mkdtemp(join(folder, `making-${processName(process.pid)}-`));
  const root = join(work, 'root');
  try {
    const { mirror, files } = await packageSources(codename);
    await outputOf(
      run,
      ...alone('debootstrap', ['--variant=minbase', '--include=ca-certificates', codename, root, mirror]),
    );
    await rm(join(root, 'etc/apt/sources.list'), { force: true });
    for (const [name, text] of files) await writeFile(join(root, 'etc/apt/sources.list.d', name), text);
    await writeFile(join(root, 'etc/resolv.conf'), await readFile('/etc/resolv.conf', 'utf8'));
    await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/machine'), DPKG_CONFIG);
    // Nothing may start while the image is made.
    await writeFile(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    const apt = 'DEBIAN_FRONTEND=noninteractive apt-get --option Acquire::Retries=3 --quiet --yes';
    const install = `${apt} install --no-install-recommends`;
    const steps = [`${apt} update`, `${install} ${packages.join(' ')}`];
    if (archives.length > 0) steps.push('apt-get clean', `${install} --download-only ${archives.join(' ')}`);
    else steps.push('apt-get clean');
    steps.push(SHORT_LISTS);
    await outputOf(run, ...alone('chroot', [root, 'sh', '-ec', steps.join('\n')]));
    await rm(join(root, 'usr/sbin/policy-rc.d'));
    await mkdir(join(root, 'var/lib/cloud/seed/nocloud'), { recursive: true });
    await writeFile(join(root, 'etc/cloud/cloud.cfg.d/90-machine.cfg'), CLOUD_CONFIG);
    // Each machine makes its own.
    await writeFile(join(root, 'etc/machine-id'), '');
    await outputOf(run, 'tar', ['--create', '--file', join(work, 'root.tar'), '--directory', root, '.']);
    await rename(join(work, 'root.tar'), file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The mirror of this machine's own release, and its files of sources that use keys of that release. */
async function packageSources(
  codename: string,
): Promise<{ readonly mirror: string; readonly files: readonly (readonly [string, string])[] }> {
  const folder = '/etc/apt/sources.list.d';
  const paths = [...(await readdir(folder).catch(() => [])).map((name) => join(folder, name)), '/etc/apt/sources.list'];
  const files: (readonly [string, string])[] = [];
  let mirror: string | undefined;
  for (const path of paths.filter((each) => /\.(?:list|sources)$/.test(each) && existsSync(each))) {
    const text = readFileSync(path, 'utf8');
    const uri =
      new RegExp(`^URIs:\\s*(\\S+)(?=[^]*?^Suites:\\s*${codename}\\b)`, 'm').exec(text)?.[1] ??
      new RegExp(`^deb\\s+(?:\\[[^\\]]*\\]\\s+)?(\\S+)\\s+${codename}\\s`, 'm').exec(text)?.[1];
    if (uri === undefined) continue;
    mirror ??= uri;
    files.push([path.slice(path.lastIndexOf('/') + 1), text]);
  }
  if (mirror === undefined)
    throw new CommandFailed(`the package sources of this machine have no mirror of ${codename}`);
  return { mirror, files };
}
