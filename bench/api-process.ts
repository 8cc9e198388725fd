import { execFile, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../src/platform/free-port.ts';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The built API in a separate process with a separate store; Temporal and MAAS are unreachable. */
export interface ApiProcess {
  readonly url: string;
  readonly pid: number;
  /** Undefined while it runs; then how it ended. */
  ended(): string | undefined;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** @param env settings of the API beyond the address and the store */
export async function startApiProcess(env: Readonly<Record<string, string>> = {}): Promise<ApiProcess> {
  await promisify(execFile)(process.execPath, [at('scripts/build.ts')]);
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
  const [port, nothing] = [await freePort(), await freePort()];
  const log = join(folder, 'api.log');
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, [at('bin/sitewright'), 'api'], {
    cwd: folder,
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'store.db')}`,
      SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${nothing}`,
      SITEWRIGHT_API_PORT: String(port),
      SITEWRIGHT_TASK_LOGS_FOLDER: join(folder, 'task-logs'),
      TMPDIR: folder,
      ...env,
    },
  });
  const ended = () => {
    if (child.signalCode !== null) return `killed by ${child.signalCode}`;
    return child.exitCode === null ? undefined : `ended with ${child.exitCode}`;
  };
  const url = `http://127.0.0.1:${port}`;
  // There is no other sign that it is up than an answer.
  while (
    !(await fetch(`${url}/health/live`).then(
      () => true,
      () => false,
    ))
  ) {
    if (ended() !== undefined) throw new Error(`the API ${ended()}:\n${await readFile(log, 'utf8')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    pid: child.pid!,
    ended,
    log: () => readFile(log, 'utf8'),
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (ended() === undefined) {
        child.kill('SIGTERM');
        await gone;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
