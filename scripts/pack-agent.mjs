// Makes the package that nodes install as their agent, `sitewright-agent-VERSION.tgz`: one program with all it needs, so
// that a node fetches it from one address and needs no registry. Bundled for this platform.
//   node scripts/pack-agent.mjs FOLDER [--node]      prints the file's name; --node also packs this Node.js, as node.tar
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/** What bundles workflows, opens stores, serves pages and simulates a MAAS: an agent does none of it. The SDK's bundler is a file of its own. */
const LEFT_OUT = /^(?:pg|@viz-js\/viz|@sitewright\/maas-simulator)(?:\/|$)|^\.{1,2}\/(?:workflow\/)?bundler$/;

const leaveOut = {
  name: 'leave-out',
  /** @param {import('esbuild').PluginBuild} build */
  setup({ onResolve, onLoad }) {
    onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: 'left-out' }));
    onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
  },
};

// Modules in the CommonJS style among the packages expect these.
const BANNER = `import { createRequire as requireIn } from 'node:module';
const require = requireIn(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { node: { type: 'boolean' } } });
const target = resolve(positionals[0] ?? '.');
mkdirSync(target, { recursive: true });
const work = mkdtempSync(join(target, '.agent-'));
try {
  const folder = join(work, 'package');
  await build({
    entryPoints: {
      main: join(root, 'src/cli/main.ts'),
      'supervisor-main': join(root, 'src/agent/supervision/supervisor-main.ts'),
      'encoded-failures': join(root, 'src/platform/codec/encoded-failures.ts'),
    },
    outdir: join(folder, 'lib'),
    chunkNames: '[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'error',
    banner: { js: BANNER },
    plugins: [leaveOut],
  });
  const bridge = dirname(require.resolve('@temporalio/core-bridge/package.json'));
  const { getPrebuiltTargetName } = require(join(bridge, 'common.js'));
  const binary = join('releases', getPrebuiltTargetName());
  cpSync(join(bridge, binary), join(folder, 'lib', binary), { recursive: true });
  const { name, version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const about = { name, version, license, engines, type: 'module', bin: { sitewright: 'lib/main.js' } };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const file = join(target, `sitewright-agent-${version}.tgz`);
  execFileSync('tar', ['--create', '--gzip', '--file', join(work, 'agent.tgz'), '--directory', work, 'package']);
  renameSync(join(work, 'agent.tgz'), file);
  if (flags.node) packNode(join(work, 'node'));
  console.log(file);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/**
 * This machine's Node.js with its npm, in the shape of a release of Node.js.
 *
 * @param {string} folder
 */
function packNode(folder) {
  const release = join(folder, 'node');
  mkdirSync(join(release, 'bin'), { recursive: true });
  cpSync(process.execPath, join(release, 'bin/node'));
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
  cpSync(dirname(dirname(npm)), join(release, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(release, 'bin/npm'));
  execFileSync('tar', ['--create', '--file', join(folder, 'node.tar'), '--directory', folder, 'node']);
  renameSync(join(folder, 'node.tar'), join(target, 'node.tar'));
}
