import type { ControlJudge, ControlOrder } from '../../src/agent/index.ts';
import type { AuditEntry, Store } from '../../src/store/index.ts';
import { graphOfRun } from './graph-of-run.ts';

/** How long an order to drain is valid: an agent that is unavailable for longer is not drained when it returns. */
const DRAIN_VALID_MS = 15 * 60_000;

/** The name of an agent in entries of the audit trail. */
export const agentTarget = (site: string, node: string): string => `node/${site}/${node}`;

export const DRAIN_ACTION = 'agent.drain';

const orderOf = ({ actor, reason }: AuditEntry, otherwise: string): ControlOrder => ({
  reason: reason === null || reason === '' ? otherwise : reason,
  by: actor,
});

/**
 * Operators' orders to cancel tasks and drain agents, from the audit trail. Only authorised callers write it, before
 * they send a request to Temporal; nothing that comes from Temporal does.
 */
export function operatorOrders(store: Store): {
  /** @param run a graph, as agents name it */
  cancelled(run: string): Promise<ControlOrder | undefined>;
  drained(site: string, node: string, now?: Date): Promise<(ControlOrder & { readonly id: string }) | undefined>;
} {
  const newest = async (action: string, target: string): Promise<AuditEntry | undefined> =>
    (await store.audit.list({ action, target, limit: 1 })).items[0];
  return {
    async cancelled(run) {
      for (const id of await runsOf(store, run)) {
        const entry = await newest('run.cancel', `run/${id}`);
        if (entry !== undefined) return orderOf(entry, 'the run was cancelled');
      }
      return undefined;
    },
    async drained(site, node, now = new Date()) {
      const entry = await newest(DRAIN_ACTION, agentTarget(site, node));
      if (entry === undefined || now.getTime() - Date.parse(entry.at) > DRAIN_VALID_MS) return undefined;
      return { id: entry.id, ...orderOf(entry, 'the agent is drained') };
    },
  };
}

/** The runs whose cancellation also cancels a graph: its own run, and a site's run with the graph as its last phase. */
async function runsOf(store: Store, name: string): Promise<string[]> {
  const graph = await graphOfRun(store, name);
  if (graph === undefined) return [];
  const { workflowId, temporalRunId } = graph.run;
  const id = workflowId ?? '';
  const found = /(?:^|:)execute_graph:\d+:/.exec(id);
  const named = found === null ? undefined : id.slice(found.index + found[0].length);
  return [temporalRunId, named].filter((one): one is string => typeof one === 'string' && one !== '');
}

/**
 * For agents that read their unsigned orders directly from the store. They obey every request from Temporal, also an
 * operator's `temporal workflow cancel`. If an operator gave a reason, it is recorded with the task's result.
 */
export function storeControl(store: Store): ControlJudge {
  const orders = operatorOrders(store);
  return {
    cancelled: async ({ run }) => (await orders.cancelled(run)) ?? { reason: 'the run requested it' },
    drained: async () => ({ reason: 'Temporal requested it' }),
  };
}
