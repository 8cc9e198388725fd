import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { WorkerVersionStatus } from '../../core/words.ts';
import { compareVersions } from './find-server.ts';
import { metadataClient, OPEN } from './metadata-client.ts';

/** A worker that polls. */
interface PollingWorker {
  readonly identity: string;
  readonly lastSeen: Date;
}

/** A build of the workers as Temporal's Worker Deployment Versioning knows it. */
export interface WorkerVersionState {
  readonly version: string;
  readonly status: WorkerVersionStatus;
  readonly createdAt: Date;
  /** When new runs went to it for the first time; null: never. */
  readonly firstCurrentAt: Date | null;
  /** Workers that were seen in the last minutes and have not signed off. */
  readonly workers: readonly PollingWorker[];
}

/** All builds that ever polled a task queue. */
export interface WorkerDeployment {
  /** The build that new runs go to; null: workers without a version. */
  readonly current: string | null;
  /** Newest first. */
  readonly versions: readonly WorkerVersionState[];
  /** Workers without a version. */
  readonly unversioned: readonly PollingWorker[];
}

/** An open workflow that only workers of one build serve. */
interface PinnedWorkflow {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly startedAt: Date;
}

/** Numbers of `temporal.api.enums.v1`. */
const ENUMS = { activities: 2, draining: 1, drained: 2, pinned: 1, versioned: 2 } as const;
/** Codes of gRPC. */
const CODES = { notFound: 5, permissionDenied: 7, unimplemented: 12 } as const;

/** The server holds a poll for a minute; a worker without a poll for twice as long has ended. */
const SEEN_WITHIN_MS = 120_000;

/** The key in a version's metadata by which a worker signs off: the server remembers its polls for minutes. */
const LEFT = 'left/';
/** The server has forgotten the polls of workers that left before. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

const codeOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? Number(error.code) : undefined;

/** Whether an error means that this server has no worker versions, or not for us. */
export const hasNoVersions = (error: unknown): boolean =>
  codeOf(error) === CODES.permissionDenied || codeOf(error) === CODES.unimplemented;

/** The first server whose worker versions are as our SDK has them. */
export const FINAL_SINCE = '1.28.0';

const MOVED_AT_ONCE = 10;

/** The versions of the workers of a task queue, and their open workflows. Errors are those of the connection. */
export class WorkerVersions {
  readonly #client: Client;
  readonly #taskQueue: string;

  constructor(client: Client, taskQueue: string) {
    this.#client = client;
    this.#taskQueue = taskQueue;
  }

  /** Whether the server routes workers of our SDK by their version: an older one answers, and never learns of a version. */
  async areFinal(): Promise<boolean> {
    const { serverVersion } = await this.#client.workflowService.getSystemInfo({});
    return !serverVersion || compareVersions(serverVersion, FINAL_SINCE) >= 0;
  }

  /** The deployment's name on the server, which allows neither `.` nor `:` in it. */
  get deployment(): string {
    return this.#taskQueue.replaceAll(/[.:]/g, '_');
  }

  /** Undefined: no worker of this task queue has ever had a version. */
  async look(): Promise<WorkerDeployment | undefined> {
    const { workflowService, options } = this.#client;
    const { namespace } = options;
    const described = await workflowService
      .describeWorkerDeployment({ namespace, deploymentName: this.deployment })
      .catch((error: unknown) => {
        if (codeOf(error) === CODES.notFound) return undefined;
        throw error;
      });
    const info = described?.workerDeploymentInfo;
    if (info == null) return undefined;
    const taskQueue = { name: this.#taskQueue };
    const queue = await workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: ENUMS.activities });
    const polls = (queue.pollers ?? []).map((one) => ({
      version:
        one.deploymentOptions?.workerVersioningMode === ENUMS.versioned
          ? (one.deploymentOptions.buildId ?? null)
          : null,
      identity: one.identity ?? '',
      lastSeen: optionalTsToDate(one.lastAccessTime) ?? new Date(0),
    }));
    // By the server's clock only.
    const newest = Math.max(0, ...polls.map(({ lastSeen }) => lastSeen.getTime()));
    const workersOf = (version: string | null): PollingWorker[] =>
      polls
        .filter((one) => one.version === version && newest - one.lastSeen.getTime() < SEEN_WITHIN_MS)
        .map(({ identity, lastSeen }) => ({ identity, lastSeen }));
    const { currentDeploymentVersion, rampingDeploymentVersion } = info.routingConfig ?? {};
    const current = currentDeploymentVersion?.buildId ?? null;
    const ramping = rampingDeploymentVersion?.buildId ?? null;
    const versions = (info.versionSummaries ?? []).map(async (one): Promise<WorkerVersionState> => {
      const version = one.deploymentVersion?.buildId ?? '';
      const seen = workersOf(version);
      const left = seen.length === 0 ? new Map<string, Date>() : await this.#left(version);
      const { drainageStatus } = one;
      const inUse = version === current ? 'current' : version === ramping ? 'ramping' : undefined;
      const drained =
        drainageStatus === ENUMS.draining ? 'draining' : drainageStatus === ENUMS.drained ? 'drained' : 'inactive';
      return {
        version,
        status: inUse ?? drained,
        createdAt: optionalTsToDate(one.createTime) ?? new Date(0),
        firstCurrentAt: optionalTsToDate(one.firstActivationTime) ?? null,
        workers: seen.filter(({ identity }) => !left.has(identity)),
      };
    });
    const known = await Promise.all(versions);
    return {
      current,
      versions: known.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime()),
      unversioned: workersOf(null),
    };
  }

  /** New runs go to this version from now on; null: to workers without a version. */
  async makeCurrent(version: string | null): Promise<void> {
    const { namespace, identity } = this.#client.options;
    await this.#client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName: this.deployment,
      buildId: version ?? '',
      identity: identity ?? '',
      // Each build polls all queues that its own runs use; an earlier one may have fewer.
      ignoreMissingTaskQueues: true,
    });
  }

  /** Open workflows that only workers of this version serve: runs, and their child workflows. */
  async count(version: string): Promise<number> {
    return (await this.#client.workflow.count(this.#pinnedTo(version))).count;
  }

  async *pinned(version: string): AsyncIterable<PinnedWorkflow> {
    for await (const { workflowId, runId, type, startTime } of metadataClient(this.#client).list({
      query: this.#pinnedTo(version),
    }))
      yield { workflowId, runId, type, startedAt: startTime };
  }

  /**
   * Has the open workflows of a version go on with workers of another; null: with those without a version. One that ends
   * meanwhile is left as it is. Returns how many were moved.
   */
  async move(version: string, to: string | null): Promise<number> {
    const { workflowService, options } = this.#client;
    const versioningOverride =
      to === null ? { autoUpgrade: true } : { pinned: { behavior: ENUMS.pinned, version: this.idOf(to) } };
    const found: PinnedWorkflow[] = [];
    for await (const one of this.pinned(version)) found.push(one);
    let moved = 0;
    const moveNext = async (): Promise<void> => {
      for (let one = found.pop(); one !== undefined; one = found.pop()) {
        const { workflowId, runId } = one;
        await workflowService
          .updateWorkflowExecutionOptions({
            namespace: options.namespace,
            workflowExecution: { workflowId, runId },
            workflowExecutionOptions: { versioningOverride },
            updateMask: { paths: ['versioning_override'] },
          })
          .then(
            () => (moved += 1),
            (error: unknown) => {
              if (codeOf(error) !== CODES.notFound) throw error;
            },
          );
      }
    };
    await Promise.all(Array.from({ length: MOVED_AT_ONCE }, moveNext));
    return moved;
  }

  /** Says that a worker left, so that others need not wait until the server forgets it. */
  async leave(version: string, identity: string): Promise<void> {
    const old = [...(await this.#left(version))].filter(([, at]) => Date.now() - at.getTime() > FORGOTTEN_AFTER_MS);
    await this.#client.workflowService.updateWorkerDeploymentVersionMetadata({
      namespace: this.#client.options.namespace,
      deploymentVersion: this.idOf(version),
      upsertEntries: { [`${LEFT}${identity}`]: defaultPayloadConverter.toPayload(new Date().toISOString()) },
      removeEntries: old.map(([gone]) => `${LEFT}${gone}`),
    });
  }

  /** Names a version on the server. */
  idOf(version: string): { readonly deploymentName: string; readonly buildId: string } {
    return { deploymentName: this.deployment, buildId: version };
  }

  async #left(version: string): Promise<Map<string, Date>> {
    const { workerDeploymentVersionInfo: info } = await this.#client.workflowService.describeWorkerDeploymentVersion({
      namespace: this.#client.options.namespace,
      deploymentVersion: this.idOf(version),
    });
    return new Map(
      Object.entries(info?.metadata?.entries ?? {})
        .filter(([key]) => key.startsWith(LEFT))
        .map(([key, value]) => [key.slice(LEFT.length), new Date(String(defaultPayloadConverter.fromPayload(value)))]),
    );
  }

  #pinnedTo(version: string): string {
    return `TemporalWorkerDeploymentVersion = '${this.deployment}:${version}' AND ${OPEN}`;
  }
}
