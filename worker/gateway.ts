import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import type { Server } from 'node:tls';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { given } from '../src/core/data/given.ts';
import { SetupError } from '../src/core/problems/refusal.ts';
import { SigningKeys } from '../src/gateway/identity/signing-keys.ts';
import { auditedAlarms, createGateway, sourceFilesBelow } from '../src/gateway/index.ts';
import { withPackageSources } from '../src/ops/packages/package-sources.ts';
import { keepMemoryOutOfCoreDumps } from '../src/platform/secrets/core-dumps.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import { controlQueue, nodeQueue, prefixed } from '../workflows/protocol.ts';
import { storeOrderBook } from './parts/gateway-orders.ts';
import { cannotListen } from './parts/listen-error.ts';
import { archiveLimitsOf, gatewayUrl, secretsOf, taskLogs } from './parts/of-settings.ts';
import { serve } from './parts/serve.ts';
import { openStartGate } from './parts/start-gate.ts';
import { openStoreWhenAvailable } from './parts/store-when-available.ts';

export interface RunningGateway {
  /** The address at which nodes reach it. */
  readonly url: string;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** The gateway's certificate is valid for 90 days; its process may run longer. */
const NEW_CERTIFICATE_EVERY_MS = 24 * 3_600_000;

/**
 * Starts the gateway of node agents as configured. Waits while the store is unreachable.
 *
 * @param stop ends the waiting
 * @throws SetupError if it cannot listen, or a key file cannot be used
 */
export async function startGateway(settings: Settings, log: Logger, stop?: AbortSignal): Promise<RunningGateway> {
  // Secrets of tasks pass through this process.
  keepMemoryOutOfCoreDumps();
  const { host, port, data_dir, source_roots, temporal_address } = settings.gateway;
  const { namespace, prefix } = settings.temporal;
  if (host === undefined) throw new SetupError('settings', 'gateway.host is not set: there is no gateway to start');
  const { CertificateAuthority } = await import('../src/gateway/identity/certificate-authority.ts');
  const authority = new CertificateAuthority(data_dir);
  const orderKeys = new SigningKeys(data_dir);
  const names = [...new Set([new URL(gatewayUrl(settings)).hostname, host, hostname(), 'localhost', '127.0.0.1'])];
  const store = await openStoreWhenAvailable(settings.store.url, log, stop);
  const gate = openStartGate(settings, store, log);
  const logs = taskLogs(settings);
  const gateway = createGateway(
    {
      authority,
      orderKeys,
      identities: store.nodeIdentities,
      alarms: auditedAlarms(store.audit, log),
      temporal: {
        address: temporal_address ?? settings.temporal.address,
        namespace,
        ...given({ prefix }),
      },
      queues: (site, node) => {
        const tasks = prefixed(prefix, nodeQueue(site, node));
        return { tasks, control: controlQueue(tasks) };
      },
      now: () => new Date(),
      orders: storeOrderBook(store, gate),
      secrets: secretsOf(settings),
      sources: withPackageSources(
        sourceFilesBelow(source_roots.split(':').filter(isAbsolute)),
        store.packages,
        archiveLimitsOf(settings),
      ),
      logs: { append: async (key, chunk) => logs.append(key, chunk) },
      log,
    },
    authority.issueServer(names),
  );
  await gateway.listen({ host, port }).catch(async (error: unknown) => {
    await Promise.all([gate.close(), store.close()]);
    cannotListen('the gateway', { host, port }, 'gateway.')(error);
  });
  const renewal = setInterval(() => {
    const { key, pem } = authority.issueServer(names);
    (gateway.server as unknown as Server).setSecureContext({ key, cert: pem, ca: authority.certificate });
  }, NEW_CERTIFICATE_EVERY_MS);
  renewal.unref();
  const { port: bound } = gateway.server.address() as { port: number };
  let stopped: Promise<void> | undefined;
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    url: gatewayUrl(settings, bound),
    done,
    stop: () =>
      (stopped ??= (async () => {
        clearInterval(renewal);
        await gateway.close();
        await Promise.all([gate.close(), store.close()]);
        end();
      })()),
  };
}

/** Runs only the gateway, without an API. */
export function serveGateway(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'gateway', async (log) => {
    const gateway = await startGateway(settings, log, terminal.interrupted());
    return { ...gateway, said: `gateway ready at ${gateway.url}` };
  });
}
