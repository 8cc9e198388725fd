import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../src/platform/processes/lock.ts';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';

/** The last release line that supports our use of SDK 1.24's test protocol. */
const VERSION = '1.31.0';
const LOGGER_VERSION = '2.0.17';
const DOWNLOAD_LIMIT_MS = 10 * 60_000;

/** The path of Temporal's time-skipping test server, or why it is missing. */
export type TimeSkippingServer =
  /** `path` is a program for `TestWorkflowEnvironment.createTimeSkipping({server: {executable: {type: 'existing-path', path}}})`. */
  | { readonly status: 'found'; readonly path: string }
  /** `reason` is the problem and the next step; tests skip with it. */
  | { readonly status: 'missing'; readonly reason: string };

/**
 * Finds the time-skipping server in the cache folder, or downloads its jars (33 MB) with Maven. It skips days in
 * milliseconds, for tests of timers and timeouts. Its API level is old: for search attributes or heartbeat details, use
 * the dev server.
 */
export async function findTimeSkippingServer(
  options: { readonly env?: NodeJS.ProcessEnv; readonly report?: (line: string) => void } = {},
): Promise<TimeSkippingServer> {
  const env = options.env ?? process.env;
  const java = await succeeds('java', ['-version'], env);
  if (!java)
    return missing('Java is not on PATH. Install a Java runtime, 11 or later (Debian: openjdk-17-jre-headless).');
  const cache = cacheFolder(env);
  const folder = join(cache, `temporal-test-server-${VERSION}`);
  const launcher = join(folder, 'temporal-test-server');
  if (await holds(folder, 'temporal-test-server')) return { status: 'found', path: launcher };
  if (!(await succeeds('mvn', ['--version'], env))) {
    return missing('Maven is not on PATH, and the jars are not in the cache. Install Maven (Debian: maven).');
  }
  return await withLock(`${folder}.lock`, async () => {
    if (await holds(folder, 'temporal-test-server')) return { status: 'found', path: launcher };
    options.report?.('Downloading Temporal’s time-skipping test server with Maven, once (33 MB) …');
    await mkdir(cache, { recursive: true });
    const work = await mkdtemp(join(cache, 'getting-'));
    try {
      await copyJars(work, env);
      await writeFile(join(work, 'temporal-test-server'), launcherText());
      await chmod(join(work, 'temporal-test-server'), 0o755);
      await rename(work, folder);
      return { status: 'found', path: launcher };
    } catch (error) {
      return missing(`Maven could not download it: ${firstError(error)} It needs access to Maven Central.`);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

/** The SDK calls it with the port and stops it with a signal, hence `exec`. */
function launcherText(): string {
  return '#!/bin/sh\nexec java -cp "$(dirname "$0")/jars/*" io.temporal.testserver.TestServer "$@"\n';
}

async function copyJars(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const dependency = (group: string, artifact: string, version: string): string =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>sitewright</groupId><artifactId>test-server</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
${dependency('io.temporal', 'temporal-test-server', VERSION)}
${dependency('org.slf4j', 'slf4j-nop', LOGGER_VERSION)}
</dependencies></project>
`;
  await writeFile(join(folder, 'pom.xml'), pom);
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
  const args = ['-q', '-B', '-f', join(folder, 'pom.xml'), goal, '-DincludeScope=runtime', '-DoutputDirectory=jars'];
  await promisify(execFile)('mvn', args, { cwd: folder, env, timeout: DOWNLOAD_LIMIT_MS, killSignal: 'SIGKILL' });
}

function missing(reason: string): TimeSkippingServer {
  return { status: 'missing', reason: `No time-skipping test server: ${reason}` };
}

async function holds(folder: string, name: string): Promise<boolean> {
  return (await readdir(folder).catch((): string[] => [])).includes(name);
}

async function succeeds(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return await promisify(execFile)(command, [...args], { env, timeout: 60_000 }).then(
    () => true,
    () => false,
  );
}

function firstError(error: unknown): string {
  const { stdout = '', message = String(error) } = error as { stdout?: string; message?: string };
  const line = stdout.split('\n').find((text) => text.includes('[ERROR]')) ?? message.split('\n')[0] ?? '';
  return line.replace('[ERROR]', '').trim();
}
