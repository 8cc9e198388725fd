import { checkMaas, type MaasCheck } from '@sitewright/maas';
import { summaryOfMaasCheck } from '@sitewright/maas/check-summary';
import { given } from '../core/data/given.ts';
import { StoreError } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import { asProblem, problem } from './problem.ts';
import { Service } from './service.ts';
import { callTemporal, pollsOf } from './temporal-calls.ts';

/**
 * The user wants an answer now: anything slower counts as unreachable. (A deployment gives MAAS a minute for a read.)
 */
const LIMIT_MS = 8_000;
/** Anyone may ask, without a token: an answer serves all who ask until then or within this time, and asks MAAS and Temporal once. */
const SHARED_MS = 3_000;

interface HealthCheck {
  readonly name: 'store' | 'temporal' | 'namespace' | 'worker' | 'maas';
  readonly ok: boolean;
  readonly message: string;
  readonly fix?: string;
}

interface Health {
  readonly ok: boolean;
  readonly checks: readonly HealthCheck[];
}

export class HealthOperations extends Service {
  readonly #now: typeof Date.now;
  #shared: { until: number; readonly answer: Promise<Health> } | undefined;

  constructor(deps: OpsDependencies, now = Date.now) {
    super(deps);
    this.#now = now;
  }

  async maas(): Promise<MaasCheck> {
    return checkMaas(this.deps.maas().client, { series: await wantedSeries(this.deps) });
  }
  /** Checks everything that this process needs; never throws. */
  check(): Promise<Health> {
    if (this.#shared === undefined || this.#now() >= this.#shared.until) {
      const mine = { until: Infinity, answer: this.#look() };
      this.#shared = mine;
      void mine.answer.then(() => {
        mine.until = this.#now() + SHARED_MS;
      });
    }
    return this.#shared.answer;
  }

  async #attempt(
    name: HealthCheck['name'],
    fix: string,
    look: (signal: AbortSignal) => Promise<string>,
    hanging = `no answer within ${LIMIT_MS / 1000} s`,
  ): Promise<HealthCheck> {
    const limit = new AbortController();
    const late = new Promise<never>((_, fail) => {
      limit.signal.addEventListener('abort', () => fail(limit.signal.reason), { once: true });
    });
    const timer = setTimeout(() => limit.abort(new Error(hanging)), LIMIT_MS);
    try {
      return { name, ok: true, message: await Promise.race([look(limit.signal), late]) };
    } catch (error) {
      const { code, message, hint } = asProblem(error);
      // An unexpected error is not a defect here; this check's fix applies.
      return { name, ok: false, message, fix: (code === 'unexpected' ? undefined : hint) ?? fix };
    } finally {
      clearTimeout(timer);
    }
  }

  async #look(): Promise<Health> {
    const checks = await Promise.all([
      this.#attempt('store', 'Check store.url.', async () => {
        const status = await this.store.status();
        if (status.pending.length > 0) throw new Error(`the schema is ${status.pending.length} migrations behind`);
        return `${status.dialect} at ${status.location}, schema ${status.schemaVersion}`;
      }),
      this.#attempt('temporal', `Start Temporal, or correct temporal.address (${this.temporal.address}).`, async () => {
        const info = await callTemporal(this.temporal, () =>
          this.temporal.connection.workflowService.getSystemInfo({}),
        );
        return `Temporal ${info.serverVersion} at ${this.temporal.address}`;
      }),
      this.#attempt(
        'namespace',
        `temporal operator namespace create --namespace ${this.temporal.namespace}`,
        async () => {
          await callTemporal(this.temporal, () =>
            this.temporal.connection.workflowService.describeNamespace({ namespace: this.temporal.namespace }),
          );
          return `namespace ${this.temporal.namespace}`;
        },
      ),
      this.#attempt('worker', "Start a worker: 'sitewright worker'.", async () => {
        const { last, recent } = await callTemporal(this.temporal, () => pollsOf(this.temporal));
        if (last === null) throw new Error(`no worker polls task queue ${this.temporal.taskQueue}`);
        if (recent === 0) {
          const ago = Math.round((Date.now() - last) / 1000);
          throw new Error(
            `no worker polls task queue ${this.temporal.taskQueue} any more; the last poll was ${ago} s ago`,
          );
        }
        return `${recent === 1 ? '1 worker polls' : `${recent} workers poll`} task queue ${this.temporal.taskQueue}`;
      }),
      this.#attempt(
        'maas',
        "Check the region controller, then run 'sitewright maas check'.",
        async (signal) => {
          const check = await checkMaas(this.deps.maas().client, { onlyAccess: true }, signal);
          const { ok, message, fix: hint } = summaryOfMaasCheck(check);
          if (!ok) throw problem('maas-failed', message, given({ hint }));
          return message;
        },
        `MAAS does not answer within ${LIMIT_MS / 1000} s: it hangs or is overloaded, or packets to it are dropped`,
      ),
    ]);
    return { ok: checks.every((one) => one.ok), checks };
  }
}

/** The series that settings or the latest documents of any site name; only those of the settings while the store is unreachable. */
export async function wantedSeries({
  store,
  distroSeries,
}: Pick<OpsDependencies, 'store' | 'distroSeries'>): Promise<readonly string[]> {
  const found = new Set(distroSeries === undefined ? [] : [distroSeries]);
  try {
    for (const { name } of await store.sites.list()) {
      for (const series of await seriesOf(store, name)) found.add(series);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
  return [...found];
}

async function seriesOf(store: OpsDependencies['store'], name: string): Promise<readonly string[]> {
  try {
    const { site } = await store.sites.resolvedRevision(name, 'latest');
    return (site?.nodes ?? []).flatMap((node) => node.distro_series ?? []);
  } catch (error) {
    // A site without documents, or one that was just deleted.
    if (error instanceof StoreError && error.failure.kind === 'not-found') return [];
    throw error;
  }
}
