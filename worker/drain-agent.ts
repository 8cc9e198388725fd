import {
  ActivityFailure,
  ApplicationFailure,
  Client,
  Connection,
  TimeoutFailure,
  WorkflowFailedError,
} from '@temporalio/client';
import { given } from '../src/core/data/given.ts';
import { startWorkflow } from '../src/ops/workflow-calls.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { connectionOptions } from '../src/platform/temporal/connection-options.ts';
import { ownQueue } from '../src/platform/temporal/own-queue.ts';
import { openStore } from '../src/store/index.ts';
import { prefixed, WORKFLOWS } from '../workflows/protocol.ts';
import { encryptionOf } from './parts/encryption.ts';
import { agentTarget, DRAIN_ACTION } from './parts/operator-orders.ts';

/** Timeout for the answer of an agent, and for the whole workflow. */
const WAIT_MS = 90_000;
const WHOLE_MS = 240_000;

type DrainEnd =
  /** `unfinished`: run/task/attempt of tasks that continue under their supervisor. */
  | { readonly ok: true; readonly unfinished: readonly string[] }
  | { readonly ok: false; readonly why: 'silent' | 'refused' | 'no-worker'; readonly message: string };

/** Records an order to drain, and notifies the agent. */
export async function drainAgent(
  settings: Settings,
  request: { readonly site: string; readonly node: string; readonly by: string; readonly reason?: string },
  waitMs = WAIT_MS,
): Promise<DrainEnd> {
  const { site, node, by, reason } = request;
  const { namespace, prefix } = settings.temporal;
  const connection = await Connection.connect(connectionOptions(settings.temporal));
  try {
    const store = await openStore(settings.store.url);
    const order = await store.audit
      .append({
        actor: by,
        action: DRAIN_ACTION,
        target: agentTarget(site, node),
        ...given({ reason }),
      })
      .finally(() => store.close());
    const client = new Client({ connection, namespace, ...encryptionOf(settings) });
    const started = await startWorkflow(client.workflow, 'drain_agent', {
      taskQueue: ownQueue(settings.temporal),
      workflowId: prefixed(prefix, `${WORKFLOWS.drain_agent}:${site}:${node}:${order.id}`),
      workflowExecutionTimeout: WHOLE_MS,
      input: { site, node, wait_ms: waitMs, ...given({ prefix }) },
    });
    const { unfinished } = await started.result();
    return { ok: true, unfinished };
  } catch (error) {
    return endOf(error, node);
  } finally {
    await connection.close();
  }
}

function endOf(error: unknown, node: string): DrainEnd {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  if (cause instanceof TimeoutFailure)
    return { ok: false, why: 'no-worker', message: 'no worker of the orchestrator handled the request' };
  if (!(cause instanceof ActivityFailure)) throw error;
  if (cause.cause instanceof ApplicationFailure) return { ok: false, why: 'refused', message: cause.cause.message };
  return { ok: false, why: 'silent', message: `no agent of ${node} answered` };
}
