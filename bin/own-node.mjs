// Fetches a Node.js of our own, and runs a script in it. It runs on any Node.js with modules, and has no dependencies.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

/** npm's packages of Node.js: npm's other platforms lag behind. */
const RELEASES = {
  'linux-x64': {
    version: '24.21.0',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    version: '24.21.0',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};

/**
 * @param {string} script its path
 * @param {readonly string[]} args
 * @param {string} least the version that is needed
 */
export async function runInOwnNode(script, args, least) {
  const node = ownNode(least);
  if ('problem' in node) {
    console.error(
      `Sitewright needs Node.js ${least} or later; this is ${process.versions.node}, and ${node.problem}. Install Node.js 24 (https://nodejs.org) and try again.`,
    );
    process.exitCode = 5;
    return;
  }
  // npm and whatever else starts `node` gets the same.
  const env = { ...process.env, PATH: `${dirname(node.path)}${delimiter}${process.env.PATH || ''}` };
  const child = spawn(node.path, [script, ...args], { env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [code, signal] = await new Promise((ended) => {
    child.on('error', (error) => {
      console.error(`${node.path} does not start: ${error.message}`);
      ended([1, null]);
    });
    child.on('close', (...end) => ended(end));
  });
  if (signal) {
    // As the child ended: a shell tells a program that was interrupted from one that failed.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = code === null ? 1 : code;
}

/**
 * @param {string} least
 * @returns {{ path: string } | { problem: string }}
 */
function ownNode(least) {
  const platform = `${process.platform}-${process.arch}`;
  const release = RELEASES[platform];
  if (release === undefined) return { problem: `npm has no current Node.js 24 for ${platform}` };
  const env = process.env;
  const cache = resolve(
    env.SITEWRIGHT_CACHE || join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'sitewright'),
  );
  const folder = join(cache, `node-${release.version}`);
  const path = join(folder, 'bin/node');
  if (existsSync(path)) return { path };
  console.error(
    `Sitewright needs Node.js ${least} or later; this is ${process.versions.node}. Fetching Node.js ${release.version} with npm, once (52 MB) …`,
  );
  let work;
  try {
    mkdirSync(cache, { recursive: true });
    work = mkdtempSync(join(cache, 'getting-'));
    unpack(fetched(`node-${platform}@${release.version}`, release.integrity, work), work);
    try {
      renameSync(join(work, 'package'), folder);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(path)) throw error;
    }
    return { path };
  } catch (error) {
    return { problem: `Node.js ${release.version} cannot be fetched with npm (${error.message})` };
  } finally {
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string} name @param {string} integrity @param {string} folder @returns {string} the archive */
function fetched(name, integrity, folder) {
  const command = ['pack', name, '--silent', '--fetch-retries=1', '--fetch-timeout=120000'];
  const { error, status, stdout, stderr } = spawnSync('npm', command, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 600000,
  });
  if (error) throw error.code === 'ENOENT' ? new Error('there is no npm') : error;
  if (status !== 0) throw new Error(said(stderr) || said(stdout) || `npm ended with ${status}: no registry answers`);
  const archive = join(folder, stdout.trim().split('\n').pop());
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name} has the checksum ${found} where ${integrity} was expected`);
  return archive;
}

/** @param {string} archive @param {string} folder */
function unpack(archive, folder) {
  // Headers for compiling are three quarters of it.
  const files = ['package/bin', 'package/LICENSE', 'package/package.json'];
  const { error, status, stderr } = spawnSync('tar', ['-xzf', archive, '-C', folder, ...files], { encoding: 'utf8' });
  if (error || status !== 0) throw new Error(`tar: ${error ? error.message : said(stderr)}`);
}

/** The most telling line of npm's or tar's output. @param {string} text */
const said = (text) =>
  (text || '')
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!) ?/, '').trim())
    .filter(Boolean)[0] || '';
