import type { WorkerVersion, WorkerVersionDetail } from '../core/contracts/worker.ts';
import { given } from '../core/data/given.ts';
import type { OperatorNote } from '../core/run/operator.ts';
import { unknownName } from '../core/text/did-you-mean.ts';
import {
  hasNoVersions,
  type WorkerDeployment,
  type WorkerVersionState,
  WorkerVersions,
} from '../platform/temporal/worker-versions.ts';
import { problem } from './problem.ts';
import { Service } from './service.ts';
import { callTemporal, requestOfTemporal } from './temporal-calls.ts';
import { appendAudit } from './without-store.ts';

/** The server keeps versions in workflows of its own, and moves runs one by one. */
const LIMIT_MS = 30_000;
const MAX_SHOWN = 100;

interface DrainRequest extends OperatorNote {
  readonly move?: boolean;
}

/** The builds of the workers in Temporal's Worker Deployment Versioning. */
export class WorkerVersionOperations extends Service {
  readonly #versions = new WorkerVersions(this.temporal.client, this.temporal.taskQueue);
  readonly #limited = <T>(work: () => Promise<T>): Promise<T> => callTemporal(this.temporal, work, LIMIT_MS);

  /** Newest first; empty where workers have no versions. */
  list(): Promise<readonly WorkerVersion[]> {
    return this.#limited(async () =>
      Promise.all(((await this.#look())?.versions ?? []).map((one) => this.#rowOf(one))),
    );
  }
  /** @throws `not-found` */
  get(version: string): Promise<WorkerVersionDetail> {
    return this.#limited(() => this.#get(version));
  }
  /** @throws `not-found`, `conflict` when no other build has workers */
  drain(version: string, request: DrainRequest): Promise<WorkerVersionDetail & { readonly moved: number }> {
    return requestOfTemporal(this.temporal, () => this.#drain(version, request), LIMIT_MS);
  }

  #look(): Promise<WorkerDeployment | undefined> {
    return this.#versions.look().catch((error: unknown) => {
      if (hasNoVersions(error)) return undefined;
      throw error;
    });
  }

  async #found(name: string): Promise<{ readonly one: WorkerVersionState; readonly all: WorkerDeployment }> {
    const all = await this.#look();
    if (all === undefined)
      throw problem('not-found', 'the workers have no versions', {
        hint: 'Is temporal.worker_versioning off, or the Temporal server too old?',
      });
    const known = all.versions.map(({ version }) => version);
    const meant = known.includes(name) ? [name] : known.filter((version) => version.startsWith(`${name}+`));
    const one = all.versions.find(({ version }) => meant.length === 1 && version === meant[0]);
    if (one !== undefined) return { one, all };
    const message =
      meant.length > 1
        ? `'${name}' may be any of ${meant.join(', ')}`
        : unknownName('version of the workers', name, known);
    throw problem('not-found', message, { hint: 'List them: sitewright worker versions' });
  }

  async #rowOf({ version, status, workers, createdAt }: WorkerVersionState): Promise<WorkerVersion> {
    return {
      version,
      status,
      open_runs: await this.#versions.count(version),
      workers: workers.map(({ identity, lastSeen }) => ({ identity, last_seen: lastSeen.toISOString() })),
      created_at: createdAt.toISOString(),
    };
  }

  async #get(name: string): Promise<WorkerVersionDetail> {
    const { one, all } = await this.#found(name);
    const open: WorkerVersionDetail['open'][number][] = [];
    for await (const { workflowId, runId, type, startedAt } of this.#versions.pinned(one.version)) {
      if (open.length === MAX_SHOWN) break;
      open.push({ workflow_id: workflowId, run: runId, type, started_at: startedAt.toISOString() });
    }
    return { ...(await this.#rowOf(one)), current: all.current, open };
  }

  async #drain(name: string, { move = false, by = 'unknown', reason }: DrainRequest) {
    const { one, all } = await this.#found(name);
    const { version, status } = one;
    if (status === 'ramping')
      throw problem('conflict', `a share of new runs goes to ${version}, as set with Temporal's command line`, {
        hint: `temporal worker deployment set-ramping-version --deployment-name ${this.#versions.deployment} --build-id ${version} --delete`,
      });
    const isServed = ({ workers }: WorkerVersionState): boolean => workers.length > 0;
    const heir = all.versions.find((other) => other !== one && isServed(other));
    const current = status === 'current' ? heir?.version : all.current;
    const hasWorkers =
      current === null ? all.unversioned.length > 0 : all.versions.some((v) => v.version === current && isServed(v));
    if (current === undefined || (move && !hasWorkers))
      throw problem('conflict', `there is no worker of another version to take over from ${version}`, {
        hint: 'Start a worker of the new build first; both can run side by side.',
      });
    if (status === 'current') await this.#versions.makeCurrent(current);
    const moved = move ? await this.#versions.move(version, current) : 0;
    const target = `worker/${version}`;
    await appendAudit(this.store, {
      actor: by,
      action: 'worker.drain',
      target,
      details: { current, moved },
      ...given({ reason }),
    });
    return { ...(await this.#get(version)), moved };
  }
}
