import { checkMaas, type MaasCheck } from '../maas/index.js';
import type { OpsDependencies } from './dependencies.js';
import { asProblem } from './problem.js';
import { callTemporal } from './temporal-calls.js';

export interface HealthCheck {
  readonly name: 'store' | 'temporal' | 'namespace' | 'worker' | 'maas';
  readonly ok: boolean;
  readonly message: string;
  readonly fix?: string;
}

export interface Health {
  readonly ok: boolean;
  readonly checks: readonly HealthCheck[];
}

export interface HealthOperations {
  /** Looks at everything this process needs; never throws. */
  check(): Promise<Health>;
  maas(): Promise<MaasCheck>;
}

export function healthOperations(deps: OpsDependencies): HealthOperations {
  const { store, temporal } = deps;
  const attempt = async (name: HealthCheck['name'], fix: string, look: () => Promise<string>): Promise<HealthCheck> => {
    try {
      return { name, ok: true, message: await look() };
    } catch (error) {
      const { code, message, hint } = asProblem(error);
      // What nobody foresaw is no defect here, only a thing that does not work: its fix is known.
      return { name, ok: false, message, fix: (code === 'unexpected' ? undefined : hint) ?? fix };
    }
  };

  return {
    maas: () => checkMaas(deps.maas().client),
    async check() {
      const checks = await Promise.all([
        attempt('store', 'Check store.url.', async () => {
          const status = await store.status();
          if (status.pending.length > 0) throw new Error(`the schema is ${status.pending.length} steps behind`);
          return `${status.dialect} at ${status.location}, schema ${status.schemaVersion}`;
        }),
        attempt('temporal', `Start Temporal, or correct temporal.address (${temporal.address}).`, async () => {
          const info = await callTemporal(temporal, () => temporal.connection.workflowService.getSystemInfo({}));
          return `Temporal ${info.serverVersion} at ${temporal.address}`;
        }),
        attempt('namespace', `temporal operator namespace create --namespace ${temporal.namespace}`, async () => {
          await callTemporal(temporal, () =>
            temporal.connection.workflowService.describeNamespace({ namespace: temporal.namespace }),
          );
          return `namespace ${temporal.namespace}`;
        }),
        attempt('worker', "Start a worker: 'sitewright worker'.", async () => {
          const queue = await callTemporal(temporal, () =>
            temporal.connection.workflowService.describeTaskQueue({
              namespace: temporal.namespace,
              taskQueue: { name: temporal.taskQueue },
              taskQueueType: 1,
            }),
          );
          const pollers = queue.pollers?.length ?? 0;
          if (pollers === 0) throw new Error(`no worker polls task queue ${temporal.taskQueue}`);
          return `${pollers === 1 ? '1 worker polls' : `${pollers} workers poll`} task queue ${temporal.taskQueue}`;
        }),
        attempt('maas', "Run 'sitewright maas check'.", async () => {
          const { client } = deps.maas();
          const [version, user] = [await client.version(), await client.whoami()];
          return `MAAS ${version.version} as ${user.username}`;
        }),
      ]);
      return { ok: checks.every((one) => one.ok), checks };
    },
  };
}
