import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { given } from '../../src/core/data/given.ts';
import { freePort } from '../../src/platform/free-port.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import { LOADED_AHEAD } from '../../workflows/protocol.ts';

let installed = false;
let sdkMetricsAt: string | undefined;

/** The SDK logs this for every agent, where it is intended. */
const NOISE = 'No workflows registered, not polling for workflow tasks';

/** An error that the SDK treats as the workflow's: the query is repeated, and nothing else is lost. */
export const isExpected = (error: unknown): boolean => (error as Error | undefined)?.message === LOADED_AHEAD;

const COLLECT_LIMIT_MS = 5_000;

/** What the SDK logs, in our log. Workflows say what operators read; what the SDK itself says below a warning is not for them. */
export const sdkLogger = (log: Logger): DefaultLogger =>
  new DefaultLogger('INFO', ({ level, message, meta }) => {
    // Our log expects errors in `err`: elsewhere they would be logged as empty objects.
    const { error, sdkComponent, ...known } = (meta ?? {}) as Record<string, unknown>;
    if (message === NOISE || (level === 'INFO' && sdkComponent !== 'workflow')) return;
    const { workflowId, runId } = known;
    if (level === 'INFO') return log.info({ workflowId, runId }, message);
    const as = isExpected(error) ? 'debug' : level === 'ERROR' ? 'error' : 'warn';
    log[as]({ ...known, ...given({ err: error }) }, message);
  });

/**
 * Routes the SDK's log lines into ours. Takes effect once per process, before the first worker or connection.
 *
 * @param announces whether workers send the server a heartbeat every minute. A process of a thousand agents would send
 *   a thousand, and pings give the same information
 */
export function installRuntime(log: Logger, announces = true, further: RuntimeOptions = {}): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: sdkLogger(log),
    shutdownSignals: [],
    ...(announces ? {} : { workerHeartbeatInterval: 0 }),
    ...further,
  });
}

/**
 * Like `installRuntime`, and collects the SDK's own metrics: pollers, slots, workflow tasks, the sticky cache.
 *
 * The SDK serves them itself, on a port of the loopback address that is free now.
 */
export async function installMeasuredRuntime(log: Logger): Promise<void> {
  if (installed) return;
  const bindAddress = `127.0.0.1:${await freePort()}`;
  sdkMetricsAt = `http://${bindAddress}/metrics`;
  const prometheus = { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  installRuntime(log, true, { telemetryOptions: { metrics: { prometheus, attachServiceName: false } } });
}

/** The SDK's own metrics in the text format of Prometheus; empty if they are not collected or do not answer. */
export async function sdkMetrics(): Promise<string> {
  if (sdkMetricsAt === undefined) return '';
  try {
    const answer = await fetch(sdkMetricsAt, { signal: AbortSignal.timeout(COLLECT_LIMIT_MS) });
    return answer.ok ? await answer.text() : '';
  } catch {
    return '';
  }
}
