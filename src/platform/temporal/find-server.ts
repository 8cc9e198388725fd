import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { withLock } from '../processes/lock.ts';

/** Newer tags have `replace` lines in go.mod, so `go install` refuses them. */
const TEMPORAL_CLI_VERSION = '1.5.1';

/** The release's archive for a platform, with its SHA-256. For others, and if it is not that one, Go builds it: its checksum database has the sources. */
const ARCHIVES: Readonly<Record<string, Archive>> = {
  'darwin-arm64': archiveOf('darwin_arm64', 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415'),
  'darwin-x64': archiveOf('darwin_amd64', 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9'),
  'linux-arm64': archiveOf('linux_arm64', 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5'),
  'linux-x64': archiveOf('linux_amd64', 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d'),
};

/** The server inside must support updates, user metadata and worker deployments as SDK 1.24 uses them. */
const MINIMUM_SERVER_VERSION = '1.27.0';

/**
 * A download of about 50 MB; without internet it fails immediately, but a firewall that drops packets would make it hang.
 */
const DOWNLOAD_LIMIT_MS = 180_000;
/** Three minutes on two quiet cores; twelve when they are shared. */
const GO_BUILD_LIMIT_MS = 30 * 60_000;

const executable = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

interface Archive {
  readonly url: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

function archiveOf(platform: string, sha256: string): Archive {
  const release = `https://github.com/temporalio/cli/releases/download/v${TEMPORAL_CLI_VERSION}`;
  return { url: `${release}/temporal_cli_${TEMPORAL_CLI_VERSION}_${platform}.tar.gz`, sha256 };
}

/** One location that was tried, and the result. */
export interface Candidate {
  readonly source: 'TEMPORAL_CLI' | 'PATH' | 'cache' | 'download' | 'go-install';
  /** The location or command. */
  readonly tried: string;
  /** Why it was not usable. */
  readonly problem: string;
  /** The next step for the user. */
  readonly next: string;
}

export interface Found {
  readonly status: 'found';
  /** Absolute path of the executable. */
  readonly path: string;
  readonly source: Candidate['source'];
  /** The Temporal server inside, e.g. `1.29.1`. */
  readonly serverVersion: string;
  /** The earlier locations that were not usable. */
  readonly attempts: readonly Candidate[];
}

export interface Missing {
  readonly status: 'missing';
  readonly attempts: readonly Candidate[];
}

interface FindOptions {
  /** Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Progress and skipped candidates, one line each. */
  readonly report?: (line: string) => void;
  /** `look` never downloads or builds anything; default `get`. */
  readonly effort?: 'look' | 'get';
  /** When the packages are there that a download needs; a build does not wait for them. Default: they are there. */
  readonly installed?: Promise<unknown>;
  /** For tests: another archive than the release's for this platform. */
  readonly archive?: Archive;
  readonly fetchArchive?: (url: string) => Promise<Uint8Array>;
}

/** The cache folder: `$SITEWRIGHT_CACHE`, else below the XDG cache folder. `bin/node-24.mjs` keeps its Node.js there too. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.SITEWRIGHT_CACHE) return resolve(env.SITEWRIGHT_CACHE);
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'sitewright');
}

/**
 * Tries, in this order: `TEMPORAL_CLI`, `PATH`, the cache folder, the release's archive, `go install`. A candidate that
 * does not run or is too old is reported and skipped. Never throws for a missing binary: the result lists each attempt.
 */
export function findTemporalBinary(options: FindOptions = {}): Promise<Found | Missing> {
  return new BinarySearch(options).find();
}

/** One search for a Temporal server, with what was tried so far. */
class BinarySearch {
  readonly #options: FindOptions;
  readonly #env: NodeJS.ProcessEnv;
  readonly #report: (line: string) => void;
  readonly #cache: string;
  readonly #attempts: Candidate[] = [];

  constructor(options: FindOptions) {
    this.#options = options;
    this.#env = options.env ?? process.env;
    this.#report = options.report ?? (() => {});
    this.#cache = cacheFolder(this.#env);
  }

  async find(): Promise<Found | Missing> {
    const installed = (await this.#fromVariable()) ?? (await this.#fromPath());
    if (installed) return installed;
    const cached = join(this.#cache, `temporal-${TEMPORAL_CLI_VERSION}`, executable);
    const inCache = await this.#judge('cache', cached, 'nothing: it is downloaded or built when needed');
    if (inCache) return inCache;
    return this.#options.effort === 'look' ? this.#missing() : this.#get(cached);
  }

  async #fromVariable(): Promise<Found | undefined> {
    const path = this.#env.TEMPORAL_CLI;
    if (path) return this.#judge('TEMPORAL_CLI', path, 'correct or unset TEMPORAL_CLI');
    return this.#failed({
      source: 'TEMPORAL_CLI',
      tried: 'the variable TEMPORAL_CLI',
      problem: 'it is not set',
      next: 'set it to the path of a `temporal` executable',
    });
  }

  async #fromPath(): Promise<Found | undefined> {
    const onPath = await lookOnPath(this.#env);
    if (onPath.length === 0)
      return this.#failed({
        source: 'PATH',
        tried: `${executable} in the folders of PATH`,
        problem: 'it is in none of them',
        next: 'install the Temporal CLI (https://docs.temporal.io/cli)',
      });
    for (const path of onPath) {
      const found = await this.#judge('PATH', path, 'update or remove this installation');
      if (found) return found;
    }
    return undefined;
  }

  /** Downloads or builds it, once for all processes of the machine. */
  #get(cached: string): Promise<Found | Missing> {
    return withLock(
      join(this.#cache, 'temporal.lock'),
      async () => {
        // The previous holder of the lock may have installed it.
        const found = await inspectTemporalBinary(cached);
        if (found.ok) return this.#hit('cache', cached, found.serverVersion);
        return (await this.#download(cached)) ?? (await this.#build(cached)) ?? this.#missing();
      },
      { onWait: (pid) => this.#report(`Another process (${pid}) is installing the Temporal server; waiting for it.`) },
    );
  }

  #hit(source: Candidate['source'], path: string, serverVersion: string): Found {
    return { status: 'found', path, source, serverVersion, attempts: this.#attempts };
  }

  #missing(): Missing {
    return { status: 'missing', attempts: this.#attempts };
  }

  #failed(attempt: Candidate): undefined {
    this.#attempts.push(attempt);
    return undefined;
  }

  async #judge(source: Candidate['source'], path: string, next: string): Promise<Found | undefined> {
    const absolute = resolve(path);
    const verdict = await inspectTemporalBinary(absolute);
    if (verdict.ok) return this.#hit(source, absolute, verdict.serverVersion);
    // Report a path that the user set, even if nothing exists there.
    if (source === 'TEMPORAL_CLI' || (await exists(absolute)))
      this.#report(`Skipping ${absolute} (${source}): ${verdict.problem}.`);
    return this.#failed({ source, tried: absolute, problem: verdict.problem, next });
  }

  async #download(target: string): Promise<Found | undefined> {
    const archive = this.#options.archive ?? ARCHIVES[`${process.platform}-${process.arch}`];
    const tried = archive?.url ?? 'the release of the Temporal CLI';
    this.#report('Downloading the Temporal CLI …');
    const folder = await workFolder(this.#cache);
    try {
      if (archive === undefined) throw new Error(`no checksum is known for ${process.platform} on ${process.arch}`);
      await this.#options.installed;
      const bytes = await (this.#options.fetchArchive ?? fetchArchive)(archive.url);
      if (createHash('sha256').update(bytes).digest('hex') !== archive.sha256)
        throw new Error('what came has another checksum than the release, and was not used');
      const file = join(folder, 'archive.tar.gz');
      await writeFile(file, bytes);
      await run('tar', ['-xzf', file, '-C', folder, executable], DOWNLOAD_LIMIT_MS);
      const verdict = await inspectTemporalBinary(join(folder, executable));
      if (!verdict.ok) throw new Error(verdict.problem);
      await install(join(folder, executable), target);
      return this.#hit('download', target, verdict.serverVersion);
    } catch (error) {
      const problem = firstLine(error);
      this.#report(`  not possible: ${problem}`);
      return this.#failed({
        source: 'download',
        tried,
        problem,
        next: 'allow access to github.com, or put a binary in one of the locations above',
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #build(target: string): Promise<Found | undefined> {
    const module = `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`;
    const tried = `go install ${module}`;
    this.#report(`Building the Temporal CLI with \`${tried}\`: about three minutes, once …`);
    const folder = await workFolder(this.#cache);
    try {
      await goInstall(module, folder, this.#env, this.#report);
      const verdict = await inspectTemporalBinary(join(folder, executable));
      if (!verdict.ok) throw new Error(verdict.problem);
      await install(join(folder, executable), target);
      return this.#hit('go-install', target, verdict.serverVersion);
    } catch (error) {
      const problem = firstLine(error);
      this.#report(`  not possible: ${problem}`);
      return this.#failed({
        source: 'go-install',
        tried,
        problem,
        next: 'install Go 1.24 or later, with access to a Go module proxy',
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** A message for the user: each location, why it was not usable, and the next step. */
export function explainMissing(missing: Missing): string {
  const lines = missing.attempts.flatMap((a) => [`  - ${a.tried}: ${a.problem}.`, `      To do: ${a.next}.`]);
  return ['No Temporal server binary was found. Tried, in this order:', ...lines].join('\n');
}

type Verdict = { readonly ok: true; readonly serverVersion: string } | { readonly ok: false; readonly problem: string };

/** Runs `temporal --version` and checks the answer. */
async function inspectTemporalBinary(path: string): Promise<Verdict> {
  const file = await stat(path).catch(() => undefined);
  if (!file) return { ok: false, problem: 'the file does not exist' };
  if (!file.isFile()) return { ok: false, problem: 'it is not a file' };
  try {
    await access(path, constants.X_OK);
  } catch {
    return { ok: false, problem: 'it is not executable' };
  }
  let output: string;
  try {
    output = await run(path, ['--version'], 30_000);
  } catch (error) {
    return { ok: false, problem: `\`--version\` failed: ${firstLine(error)}` };
  }
  // e.g. "temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)". A build by `go install` has no
  // version of its own, so the server's version counts.
  const server = /Server (\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (server === undefined) {
    return { ok: false, problem: `it is not a Temporal CLI with a server inside: "${firstLine(output)}"` };
  }
  if (compareVersions(server, MINIMUM_SERVER_VERSION) < 0) {
    return { ok: false, problem: `its server ${server} is older than ${MINIMUM_SERVER_VERSION}` };
  }
  return { ok: true, serverVersion: server };
}

/** Negative, zero or positive if the dotted numbers `a` are older than, equal to or newer than `b`. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

async function lookOnPath(env: NodeJS.ProcessEnv): Promise<string[]> {
  const hits = [];
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, executable);
    if (await exists(path)) hits.push(path);
  }
  return hits;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** In the cache folder, so that the final rename stays on one file system. */
async function workFolder(cache: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  return await mkdtemp(join(cache, 'getting-'));
}

/** Atomic. */
async function install(from: string, target: string): Promise<void> {
  await mkdir(resolve(target, '..'), { recursive: true });
  await rename(from, target);
}

/** Through the proxy that the environment names, if any. */
async function fetchArchive(url: string): Promise<Uint8Array> {
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const answer = await fetch(url, { dispatcher, signal: AbortSignal.timeout(DOWNLOAD_LIMIT_MS) });
    if (!answer.ok) throw new Error(`${new URL(url).host} answers ${answer.status}`);
    return await answer.bytes();
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(cause instanceof Error ? `${new URL(url).host} cannot be reached: ${cause.message}` : message);
  } finally {
    await dispatcher.destroy();
  }
}

async function goInstall(
  module: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  report: (line: string) => void,
): Promise<void> {
  const child = spawn('go', ['install', '-v', module], {
    cwd: tmpdir(),
    // Compilers are short processes: without their garbage collector the build takes less processor time, and more memory, up to this limit.
    env: {
      GOGC: 'off',
      GOMEMLIMIT: '1500MiB',
      ...env,
      GOBIN: folder,
      GOFLAGS: `${env.GOFLAGS ?? ''} -buildvcs=false`.trim(),
      CGO_ENABLED: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  // Killing Go may leave compilers running; they end within seconds.
  const limit = setTimeout(end, GO_BUILD_LIMIT_MS);
  let compiled = 0;
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    compiled += text.split('\n').length - 1;
    tail = (tail + text).slice(-2000);
  });
  const started = Date.now();
  const progress = setInterval(() => {
    report(`  … ${Math.round((Date.now() - started) / 1000)} s, ${compiled} packages`);
  }, 15_000);
  try {
    await new Promise<void>((done, fail) => {
      child.on('error', (error) => {
        const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
        fail(absent ? new Error('Go is not installed') : error);
      });
      child.on('close', (code, signal) => {
        if (code === 0) return done();
        if (signal === 'SIGKILL') return fail(new Error(`it took longer than ${GO_BUILD_LIMIT_MS / 60_000} minutes`));
        fail(new Error(tail.trim().split('\n').at(-1) || `go ended with code ${code}`));
      });
    });
  } finally {
    clearTimeout(limit);
    clearInterval(progress);
    process.removeListener('exit', end);
  }
}

/** Its standard output. */
function run(command: string, args: readonly string[], limitMs: number): Promise<string> {
  return new Promise((done, fail) => {
    execFile(command, args, { timeout: limitMs, killSignal: 'SIGKILL', encoding: 'utf8' }, (error, stdout, stderr) => {
      if (!error) return done(stdout);
      if (error.killed) return fail(new Error(`no answer within ${limitMs / 1000} s`));
      const said = stderr.split('\n').find((line) => /error/i.test(line)) ?? error.message;
      fail(new Error(said.replace(/^[^:]{0,200}Error[^:]{0,200}: /, '').trim()));
    });
  });
}

function firstLine(problem: unknown): string {
  const text = problem instanceof Error ? problem.message : String(problem);
  return (text.trim().split('\n')[0] ?? '').slice(0, 300);
}
