import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { openStore, type Store } from '../src/store/index.ts';
import { startBenchServer } from './dev-server.ts';

const PROGRAM = fileURLToPath(new URL('../bin/sitewright', import.meta.url));

/** Temporal's dev server, a store, and the worker as built (`npm run build`), each a process of its own. */
export interface OneWorker {
  readonly client: Client;
  readonly store: Store;
  /** Of the server. */
  readonly address: string;
  /** For files; gone at the end. */
  readonly folder: string;
  /** Process ids of worker and server. */
  readonly worker: number;
  readonly server: number;
  stop(): Promise<void>;
}

/** @param env settings of the worker */
export async function startOneWorker(env: Readonly<Record<string, string>> = {}): Promise<OneWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
  const server = await startBenchServer(folder);
  const storeUrl = `sqlite:${join(folder, 'store.db')}`;
  const store = await openStore(storeUrl);
  await store.migrate();
  const log = join(folder, 'worker.log');
  const output = openSync(log, 'a');
  const worker = spawn(process.execPath, [PROGRAM, 'worker'], {
    cwd: folder,
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      SITEWRIGHT_STORE_URL: storeUrl,
      SITEWRIGHT_TEMPORAL_ADDRESS: server.address,
      SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'state'),
      SITEWRIGHT_GATEWAY_DATA_DIR: join(folder, 'gateway'),
      SITEWRIGHT_TASK_LOGS_FOLDER: join(folder, 'task-logs'),
      SITEWRIGHT_LOG_LEVEL: 'warn',
      ...env,
    },
  });
  const ended = new Promise<number | null>((resolve) => worker.once('exit', resolve));
  void ended.then(async (code) => {
    if (code !== 0) console.error(`the worker ended with ${code}:\n${await readFile(log, 'utf8').catch(() => '')}`);
  });
  const connection = await Connection.connect({ address: server.address });
  return {
    client: new Client({ connection }),
    store,
    address: server.address,
    folder,
    worker: worker.pid!,
    server: server.pid,
    async stop() {
      worker.kill('SIGTERM');
      await ended;
      await connection.close();
      await store.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
