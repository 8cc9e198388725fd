import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerOptions } from '@temporalio/worker';
import { stepsOf, type WorkerBuild } from '../../src/core/worker-versions.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import { FINAL_SINCE, hasNoVersions, type WorkerVersions } from '../../src/platform/temporal/worker-versions.ts';
import type { PollingWorkers } from './queue-workers.ts';

/** How often to look which builds have workers. */
const LOOK_EVERY_MS = 15_000;
/** A build is there some moments after its first poll. */
const LOOK_AGAIN_MS = 100;
/** How long a start waits for it. */
const PATIENCE_MS = 20_000;

const NOT_LOOKED = 'the versions of the workers could not be read';

type Mode = Settings['temporal']['worker_versioning'];

/** Worker deployment versioning of one worker. */
interface OwnVersion {
  /** Options of the worker. */
  readonly options: Pick<WorkerOptions, 'identity' | 'workerDeploymentOptions'>;
  /**
   * Once the worker polls: sends new runs to its build, and takes over runs that no other worker serves, where that is its
   * part (`stepsOf`); then goes on looking. Resolves after the first look. False: the server sends it no runs and does not let
   * us change that, so that a worker without a version is needed.
   */
  keep(): Promise<boolean>;
  /** Once the worker has ended: its runs need not wait until the server forgets its polls. */
  leave(): Promise<void>;
}

/** @param build null: the worker has no version */
function ownVersion(versions: WorkerVersions, build: string | null, mode: Mode, log: Logger): OwnVersion {
  // Health checks look for the name of this machine at the end.
  const identity = `${process.pid}:${randomUUID().slice(0, 8)}@${hostname()}`;
  const leaving = new AbortController();
  const { signal } = leaving;
  let unserved: readonly string[] = [];
  let warned = '';

  /** `absent`: this build is not registered yet. */
  async function look(isFirst: boolean): Promise<'done' | 'absent' | 'denied'> {
    const found = await versions.look();
    if (found === undefined) return build === null ? 'done' : 'absent';
    const builds = found.versions.map(
      ({ version, createdAt, firstCurrentAt, workers }): WorkerBuild => ({
        version,
        createdAt: createdAt.getTime(),
        wasCurrent: firstCurrentAt !== null,
        // When the server restarts, workers reconnect within moments: only the second look in a row counts.
        isServed: workers.length > 0 || !(isFirst || unserved.includes(version)),
      }),
    );
    unserved = found.versions.filter(({ workers }) => workers.length === 0).map(({ version }) => version);
    const isServed = found.unversioned.some((one) => one.identity !== identity);
    const without: WorkerBuild = { version: null, createdAt: 0, wasCurrent: true, isServed };
    const own = build === null ? without : builds.find(({ version }) => version === build);
    if (own === undefined) return 'absent';
    const others = [...builds, without].filter((one) => one !== own);
    const { takeOver, adopt, waiting } = stepsOf(own, found.current, others, mode === 'manual');
    if (takeOver) {
      try {
        await versions.makeCurrent(build);
      } catch (error) {
        if (!hasNoVersions(error)) throw error;
        log.warn({ version: build, error: String(error) }, 'the server does not route new runs to this worker');
        return found.current === null ? 'denied' : 'done';
      }
      log.info({ version: build, before: found.current }, 'new runs now go to this version of the workers');
    }
    for (const version of adopt) {
      const moved = await versions.move(version, build);
      if (moved > 0) log.info({ version, moved }, 'that version has no workers left: its runs continue with this one');
    }
    await warnOf(waiting);
    return 'done';
  }

  async function warnOf(waiting: readonly string[]): Promise<void> {
    const open = await Promise.all(waiting.map((version) => versions.count(version)));
    const held = waiting.filter((_, at) => open[at] !== 0);
    if (held.join() !== warned)
      for (const version of held) {
        const hint = `start a worker of that version, or: sitewright worker drain ${version} --move`;
        log.warn({ version, hint }, 'runs of a newer version are waiting for a worker of that version');
      }
    warned = held.join();
  }

  async function firstLook(): Promise<boolean> {
    for (let failure: unknown; !signal.aborted; ) {
      try {
        const result = await look(true);
        if (result !== 'absent') return result === 'done';
      } catch (error) {
        if (String(error) !== String(failure)) log.debug({ error: String(error) }, NOT_LOOKED);
        failure = error;
      }
      await delay(LOOK_AGAIN_MS);
    }
    return true;
  }

  async function goOn(): Promise<void> {
    for (;;) {
      await delay(LOOK_EVERY_MS, undefined, { signal, ref: false });
      await look(false).catch((error: unknown) => log.warn({ error: String(error) }, NOT_LOOKED));
    }
  }

  return {
    options: {
      identity,
      ...(build === null
        ? {}
        : {
            workerDeploymentOptions: {
              version: versions.idOf(build),
              useWorkerVersioning: true,
              // Later builds replay the histories of earlier ones. After a step back, the reverse would fail.
              defaultVersioningBehavior: 'PINNED',
            },
          }),
    },
    async keep() {
      const first = firstLook();
      const isUsable = await Promise.race([first, delay(PATIENCE_MS, undefined, { signal, ref: false })]).catch(
        () => true,
      );
      if (isUsable === undefined)
        log.warn({ version: build }, 'the server does not know this version yet; still trying');
      if (isUsable !== false) first.then(goOn).catch(() => undefined);
      return isUsable !== false;
    },
    async leave() {
      leaving.abort();
      if (build === null) return;
      await versions.leave(build, identity).catch((error: unknown) => log.debug({ error: String(error) }, NOT_LOOKED));
    },
  };
}

/** Whether runs can be pinned to builds here. Says so in the log if not. */
async function hasVersions(versions: WorkerVersions, log: Logger): Promise<boolean> {
  try {
    await versions.look();
    if (await versions.areFinal()) return true;
    log.warn(
      { needs: FINAL_SINCE },
      'this Temporal server has only a preview of worker versions: stop all workers before an upgrade',
    );
    return false;
  } catch (error) {
    if (!hasNoVersions(error)) throw error;
    log.warn(
      { error: String(error) },
      'this Temporal server does not support worker versions: stop all workers before an upgrade',
    );
    return false;
  }
}

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
