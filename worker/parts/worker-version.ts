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
class OwnVersion {
  // Health checks look for the name of this machine at the end.
  readonly #identity = `${process.pid}:${randomUUID().slice(0, 8)}@${hostname()}`;
  readonly #leaving = new AbortController();
  readonly #versions: WorkerVersions;
  readonly #build: string | null;
  readonly #mode: Mode;
  readonly #log: Logger;
  #unserved: readonly string[] = [];
  #warned = '';

  /** @param build null: the worker has no version */
  constructor(versions: WorkerVersions, build: string | null, mode: Mode, log: Logger) {
    this.#versions = versions;
    this.#build = build;
    this.#mode = mode;
    this.#log = log;
  }

  /** Options of the worker. */
  get options(): Pick<WorkerOptions, 'identity' | 'workerDeploymentOptions'> {
    return {
      identity: this.#identity,
      ...(this.#build !== null && {
        workerDeploymentOptions: {
          version: this.#versions.idOf(this.#build),
          useWorkerVersioning: true,
          // Later builds replay the histories of earlier ones. After a step back, the reverse would fail.
          defaultVersioningBehavior: 'PINNED',
        },
      }),
    };
  }

  /**
   * Once the worker polls: sends new runs to its build, and takes over runs that no other worker serves, where that is its
   * part (`stepsOf`); then goes on looking. Resolves after the first look. False: the server sends it no runs and does not let
   * us change that, so that a worker without a version is needed.
   */
  async keep(): Promise<boolean> {
    const { signal } = this.#leaving;
    const first = this.#firstLook();
    const isUsable = await Promise.race([first, delay(PATIENCE_MS, undefined, { signal, ref: false })]).catch(
      () => true,
    );
    if (isUsable === undefined)
      this.#log.warn({ version: this.#build }, 'the server does not know this version yet; still trying');
    if (isUsable !== false) first.then(() => this.#goOn()).catch(() => undefined);
    return isUsable !== false;
  }

  /** Once the worker has ended: its runs need not wait until the server forgets its polls. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    if (this.#build === null) return;
    await this.#versions
      .leave(this.#build, this.#identity)
      .catch((error: unknown) => this.#log.debug({ error: String(error) }, NOT_LOOKED));
  }

  /** `absent`: this this.#build is not registered yet. */
  async #look(isFirst: boolean): Promise<'done' | 'absent' | 'denied'> {
    const found = await this.#versions.look();
    if (found === undefined) return this.#build === null ? 'done' : 'absent';
    const builds = found.versions.map(
      ({ version, createdAt, firstCurrentAt, workers }): WorkerBuild => ({
        version,
        createdAt: createdAt.getTime(),
        wasCurrent: firstCurrentAt !== null,
        // When the server restarts, workers reconnect within moments: only the second look in a row counts.
        isServed: workers.length > 0 || !(isFirst || this.#unserved.includes(version)),
      }),
    );
    this.#unserved = found.versions.filter(({ workers }) => workers.length === 0).map(({ version }) => version);
    const isServed = found.unversioned.some((one) => one.identity !== this.#identity);
    const without: WorkerBuild = { version: null, createdAt: 0, wasCurrent: true, isServed };
    const own = this.#build === null ? without : builds.find(({ version }) => version === this.#build);
    if (own === undefined) return 'absent';
    const others = [...builds, without].filter((one) => one !== own);
    const { takeOver, adopt, waiting } = stepsOf(own, found.current, others, this.#mode === 'manual');
    if (takeOver) {
      try {
        await this.#versions.makeCurrent(this.#build);
      } catch (error) {
        if (!hasNoVersions(error)) throw error;
        this.#log.warn(
          { version: this.#build, error: String(error) },
          'the server does not route new runs to this worker',
        );
        return found.current === null ? 'denied' : 'done';
      }
      this.#log.info({ version: this.#build, before: found.current }, 'new runs now go to this version of the workers');
    }
    for (const version of adopt) {
      const moved = await this.#versions.move(version, this.#build);
      if (moved > 0)
        this.#log.info({ version, moved }, 'that version has no workers left: its runs continue with this one');
    }
    await this.#warnOf(waiting);
    return 'done';
  }

  async #warnOf(waiting: readonly string[]): Promise<void> {
    const open = await Promise.all(waiting.map((version) => this.#versions.count(version)));
    const held = waiting.filter((_, at) => open[at] !== 0);
    if (held.join() !== this.#warned)
      for (const version of held) {
        const hint = `start a worker of that version, or: sitewright worker drain ${version} --move`;
        this.#log.warn({ version, hint }, 'runs of a newer version are waiting for a worker of that version');
      }
    this.#warned = held.join();
  }

  async #firstLook(): Promise<boolean> {
    for (let failure: unknown; !this.#leaving.signal.aborted; ) {
      try {
        const result = await this.#look(true);
        if (result !== 'absent') return result === 'done';
      } catch (error) {
        if (String(error) !== String(failure)) this.#log.debug({ error: String(error) }, NOT_LOOKED);
        failure = error;
      }
      await delay(LOOK_AGAIN_MS);
    }
    return true;
  }

  async #goOn(): Promise<void> {
    for (;;) {
      await delay(LOOK_EVERY_MS, undefined, { signal: this.#leaving.signal, ref: false });
      await this.#look(false).catch((error: unknown) => this.#log.warn({ error: String(error) }, NOT_LOOKED));
    }
  }
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
    const version = new OwnVersion(versions, own, mode, log);
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
