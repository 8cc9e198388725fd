import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import type { WorkerVersions } from '../src/platform/temporal/worker-versions.ts';
import type { PollingWorkers } from './queue-workers.ts';
import { hasVersions, type OwnVersion, ownVersion } from './worker-version.ts';

interface PollingWorker {
  /** Resolves when the worker has stopped; rejects if it fails. */
  readonly done: Promise<void>;
  shutDown(): void;
}

/** Starts a worker with the version of its build, or without one where the server has none. Resolves when it gets runs. */
export async function startVersioned(
  create: (own: OwnVersion['options']) => Promise<PollingWorkers>,
  versions: WorkerVersions,
  build: string,
  mode: Settings['temporal']['worker_versioning'],
  log: Logger,
): Promise<PollingWorker> {
  const isOffered = await hasVersions(versions, log);
  const start = async (own: string | null): Promise<PollingWorker & { readonly getsRuns: boolean }> => {
    const version = ownVersion(versions, own, mode, log);
    const worker = await create(version.options);
    const done = worker.run().finally(() => version.leave());
    const shutDown = (): void => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    return { done, shutDown, getsRuns: !isOffered || (await Promise.race([version.keep(), done.then(() => true)])) };
  };
  if (!isOffered || mode === 'off') return start(null);
  const versioned = await start(build);
  if (versioned.getsRuns) return versioned;
  versioned.shutDown();
  await versioned.done;
  return start(null);
}
