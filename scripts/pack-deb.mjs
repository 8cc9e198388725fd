// Makes the Debian packages, from dist/ and for this machine's architecture: `sitewright`, the server, and `sitewright-agent`,
// for nodes. Nothing but dpkg-deb is needed. The same input gives the same bytes.
//   node scripts/pack-deb.mjs FOLDER [--version VERSION]      prints the names of the files
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
/** @type {{ version: string, description: string, engines: { node: string } }} */
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { values, positionals } = parseArgs({ allowPositionals: true, options: { version: { type: 'string' } } });
const { version = about.version } = values;
// Debian sorts what follows a tilde before what has none: 1.0.0~rc.1 is older than 1.0.0.
const debianVersion = version.replace('-', '~');
const target = resolve(positionals[0] ?? '.');
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']));
const architecture = run('dpkg', ['--print-architecture']);
const oldestNode = about.engines.node.replace('>=', '');

mkdirSync(target, { recursive: true });
const work = mkdtempSync(join(target, '.deb-'));
try {
  console.log(packAgent());
  console.log(packServer());
} finally {
  rmSync(work, { recursive: true, force: true });
}

function packAgent() {
  const tree = join(work, 'agent');
  const program = join(tree, 'usr/lib/sitewright-agent');
  mkdirSync(program, { recursive: true });
  const archive = run(process.execPath, [join(root, 'scripts/pack-agent.mjs'), work]);
  run('tar', ['--extract', '--file', archive, '--strip-components', '1', '--directory', program]);
  setVersion(join(program, 'package.json'));
  return build(tree, 'agent', 'sitewright-agent', ['sitewright-agent.service'], {
    // Its native library has no version of Node.js in it.
    Depends: `nodejs (>= ${oldestNode}), bash, init-system-helpers, libc6, util-linux`,
    Recommends: 'perl-base, rsync',
    Description: `agent of Sitewright for nodes\n Runs tasks on this machine by signed orders of a gateway.`,
  });
}

function packServer() {
  const tree = join(work, 'server');
  const program = join(tree, 'usr/lib/sitewright');
  for (const name of ['bin', 'dist', 'package.json', 'LICENSE'])
    cpSync(join(root, name), join(program, name), { recursive: true, filter: isNeeded });
  cpSync(join(root, 'deploy/health.mjs'), join(program, 'deploy/health.mjs'));
  setVersion(join(program, 'package.json'));
  // Packages within packages have entries of their own.
  for (const path of productionPackages())
    cpSync(join(root, path), join(program, path), {
      recursive: true,
      filter: (file) => isNeeded(file) && !relative(join(root, path), file).split('/').includes('node_modules'),
    });
  const simulator = 'node_modules/@sitewright/maas-simulator';
  for (const name of ['package.json', 'dist'])
    cpSync(join(root, 'packages/maas-simulator', name), join(program, simulator, name), { recursive: true });
  const units = readdirSync(join(root, 'deploy/systemd')).filter((name) => name !== 'sitewright-agent.service');
  return build(tree, 'server', 'sitewright', units, {
    Depends: `nodejs (>= ${oldestNode}), init-system-helpers, libc6, passwd`,
    Recommends: 'git',
    Suggests: 'postgresql, sitewright-agent',
    Description: `${about.description.replace(/\.$/, '')}\n API, worker and gateway. Temporal and PostgreSQL by address, or on this machine.`,
  });
}

/** Not of other platforms, nor what only compiling needs. @param {string} file */
function isNeeded(file) {
  if (/\.(?:map|d\.[cm]?ts|tsbuildinfo)$|\/\.built$/.test(file)) return false;
  const platform = /\/core-bridge\/releases\/([^/]+)/.exec(file)?.[1];
  if (platform !== undefined)
    return platform.startsWith(process.arch === 'x64' ? 'x86_64-unknown-linux-gnu' : 'aarch64-unknown-linux-gnu');
  return !/\/core-bridge\/(?:sdk-core|src|bridge-macros|target)(?:\/|$)/.test(file);
}

/** Folders of the packages that run, by the lock file. */
function productionPackages() {
  /** @type {{ packages: Record<string, { dev?: boolean, devOptional?: boolean, link?: boolean }> }} */
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return (
    Object.entries(packages)
      // Those of this repository are part of the programs, but for the simulator.
      .filter(([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !link && !dev && !devOptional)
      .filter(([path]) => existsSync(join(root, path)))
      .map(([path]) => path)
  );
}

/**
 * @param {string} tree what the package installs
 * @param {'agent' | 'server'} kind the folder of deploy/debian with scripts, commands and configuration
 * @param {string} name
 * @param {readonly string[]} units
 * @param {Record<string, string>} fields of its control file
 */
function build(tree, kind, name, units, fields) {
  const from = join(root, 'deploy/debian', kind);
  for (const unit of units) place(join(root, 'deploy/systemd', unit), join(tree, 'usr/lib/systemd/system', unit));
  place(join(from, name), join(tree, 'usr/bin', name));
  const settings = readdirSync(from).filter((file) => /\.(?:yaml|env)$/.test(file));
  for (const file of settings) place(join(from, file), join(tree, 'etc/sitewright', file));
  const documents = join(tree, 'usr/share/doc', name);
  place(join(root, 'docs/how-to/install.md'), join(documents, 'debian.md'));
  place(join(root, 'LICENSE'), join(documents, 'copyright'));
  const changes = readFileSync(join(root, 'CHANGELOG.md'));
  writeFileSync(join(documents, 'changelog.gz'), gzipSync(changes, { level: 9 }));

  const files = run('find', ['.', '-type', 'f', '-printf', '%P\\n'], tree).split('\n').sort();
  const control = join(tree, 'DEBIAN');
  mkdirSync(control);
  for (const script of ['postinst', 'prerm', 'postrm']) place(join(from, script), join(control, script));
  writeFileSync(join(control, 'conffiles'), settings.map((file) => `/etc/sitewright/${file}\n`).join(''));
  const sums = files.map(
    (file) =>
      `${createHash('md5')
        .update(readFileSync(join(tree, file)))
        .digest('hex')}  ${file}\n`,
  );
  writeFileSync(join(control, 'md5sums'), sums.join(''));
  const kilobytes = files.reduce((sum, file) => sum + Math.ceil(lstatSync(join(tree, file)).size / 1024), 0);
  const lines = {
    Package: name,
    Version: debianVersion,
    Architecture: architecture,
    Maintainer: 'Sitewright <maintainers@sitewright.example>',
  };
  const all = { ...lines, 'Installed-Size': String(kilobytes), Section: 'admin', Priority: 'optional', ...fields };
  writeFileSync(
    join(control, 'control'),
    Object.entries(all)
      .map(([key, value]) => `${key}: ${value}\n`)
      .join(''),
  );

  const executable = new Set(['usr/bin', 'DEBIAN'].map((folder) => join(tree, folder)));
  normalize(tree, (file) => executable.has(dirname(file)) && /^#!/.test(readFileSync(file, 'latin1')));
  const file = join(target, `${name}_${debianVersion}_${architecture}.deb`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) };
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, file], { env, stdio: 'pipe' });
  return file;
}

/** The same permissions and times everywhere. @param {string} path @param {(file: string) => boolean} isExecutable */
function normalize(path, isExecutable) {
  const state = lstatSync(path);
  if (state.isDirectory()) {
    for (const name of readdirSync(path)) normalize(join(path, name), isExecutable);
    chmodSync(path, 0o755);
  } else if (state.isFile()) chmodSync(path, isExecutable(path) ? 0o755 : 0o644);
  lutimesSync(path, epoch, epoch);
}

/** @param {string} from @param {string} to */
function place(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** @param {string} file */
function setVersion(file) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, `${JSON.stringify({ ...content, version }, null, 2)}\n`);
}

/** @param {string} program @param {readonly string[]} args */
function run(program, args, cwd = root) {
  return execFileSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 }).trim();
}
