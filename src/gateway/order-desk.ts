import { type ControlOrder, type Execution, prepareTask } from '../agent/index.ts';
import { fileOfSource } from '../core/sources/folder-manifest.ts';
import type { ExecutionKey, RunTask } from '../core/task-on-node.ts';
import type { SecretProvider } from '../platform/secrets/secret-provider.ts';
import type { NodeIdentityStore } from '../store/index.ts';
import type { Alarms } from './alarms.ts';
import { executionHash, judgeGeneration } from './identity/order.ts';
import type { OrderBook, PlannedTask, SourceFiles } from './ports.ts';
import { notYet, Refusal } from './refusal.ts';

export interface Caller {
  readonly site: string;
  readonly node: string;
}

export interface OrderDeskParts {
  readonly orders: OrderBook;
  readonly identities: NodeIdentityStore;
  readonly secrets: SecretProvider;
  readonly sources: SourceFiles;
  readonly alarms: Alarms;
  readonly now: () => Date;
}

/**
 * Decides what an agent gets: its own orders and the inputs that they name. Refuses everything else and raises an alarm.
 * Plan, mode and attempt come from the order book, never from the request, which only has to agree. The gateway signs the
 * orders for nodes; agents in a process with the store take them as they are.
 */
export class OrderDesk {
  readonly #parts: OrderDeskParts;

  constructor(parts: OrderDeskParts) {
    this.#parts = parts;
  }

  /** The order of a task. */
  async order(
    caller: Caller,
    key: RunTask,
  ): Promise<Pick<PlannedTask, 'site' | 'plan'> & { readonly execution: Execution }> {
    const { identities, now } = this.#parts;
    const planned = await this.#openTask(caller, key);
    const execution = executionOf(planned, key);
    const differs = (['plan', 'type', 'mode', 'debug'] as const).find(
      (name) => partOf(planned, execution, name) !== key[name],
    );
    if (differs !== undefined)
      return this.#refuse(caller, 'other-task', `an order was requested with another ${differs} than in the plan`, key);
    const verdict = judgeGeneration(key.generation, planned.latest);
    if (verdict.kind === 'not-yet') throw notYet(verdict.message);
    if (verdict.kind === 'never') return this.#refuse(caller, 'generation', verdict.message, key);
    await this.#parts.orders.mayStart(key.run);
    await this.#assertStarted(caller, key, planned.uid);
    const hash = executionHash(execution);
    const first = await identities.recordOrder(execution, hash, now().toISOString());
    if (first !== hash)
      return this.#refuse(caller, 'other-parameters', 'the same task was ordered before with other parameters', key);
    return { site: planned.site, plan: planned.plan, execution };
  }

  /**
   * A task whose predecessors have not ended is requested by someone else than its run. An attempt that Temporal has just
   * given up is requested by its agent, which hears so in a moment: so that may be tried again.
   */
  async #assertStarted(caller: Caller, key: RunTask, uid: string): Promise<void> {
    const { orders, alarms } = this.#parts;
    if (await orders.hasStarted(key, uid)) return;
    const { run, task, generation } = key;
    const message = 'an order was requested for a task that its run has not started';
    await alarms({ ...caller, kind: 'not-started', message, details: { run, task, generation } });
    throw notYet(message);
  }

  /** An operator's order to cancel a task. */
  async cancelled(caller: Caller, key: ExecutionKey): Promise<ControlOrder> {
    await this.#task(caller, key);
    const order = await this.#parts.orders.cancelled(key.run);
    if (order !== undefined) return order;
    return this.#refuse(caller, 'cancel-not-ordered', 'Temporal cancels a task that no operator cancelled here', key);
  }

  /** An operator's order to drain a process of a node's agent; valid once. */
  async drained(caller: Caller, instance: string): Promise<ControlOrder> {
    const { orders, identities, alarms, now } = this.#parts;
    const { site, node } = caller;
    const order = await orders.drained(site, node);
    const key = { run: `drain/${site}`, node, task: order?.id ?? '', generation: 1 };
    const first = order === undefined ? undefined : await identities.recordOrder(key, instance, now().toISOString());
    if (order !== undefined && first === instance) return order;
    const message = 'Temporal drains the agent, but no operator requested it here';
    await alarms({ site, node, kind: 'drain-not-ordered', message });
    throw new Refusal(403, 'drain-not-ordered', message);
  }

  /** The value of a secret that the task's order names. */
  async secret(caller: Caller, key: ExecutionKey, ref: string): Promise<string> {
    await this.#named(caller, key, { kind: 'secret', ref });
    const answer = await this.#parts.secrets.read(ref);
    if (answer.kind === 'found') return answer.value;
    const why = answer.kind === 'absent' ? `there is no secret ${ref}` : answer.message;
    throw new Refusal(404, 'no-secret', why);
  }

  /** The content of a source that the task's order names. */
  async source(caller: Caller, key: ExecutionKey, path: string): Promise<Uint8Array> {
    await this.#named(caller, key, { kind: 'source', path });
    return await this.#parts.sources.read(path);
  }

  /**
   * Checks that the attempt is the caller's own and was ordered, for output and results, which may arrive after the run: a
   * node that makes attempts up would fill the disk.
   */
  async own(caller: Caller, key: ExecutionKey): Promise<void> {
    await this.#task(caller, key);
    const { run, task, node, generation } = key;
    if (await this.#parts.identities.hasOrder({ run, task, node, generation })) return;
    await this.#refuse(caller, 'not-ordered', 'it sent output of an attempt that was never ordered', key);
  }

  async #named(
    caller: Caller,
    key: ExecutionKey,
    input: { readonly kind: 'secret'; readonly ref: string } | { readonly kind: 'source'; readonly path: string },
  ): Promise<void> {
    const planned = await this.#openTask(caller, key);
    const prepared = prepareTask(executionOf(planned, key));
    const isNamed =
      prepared.ok &&
      prepared.task.inputs.some((named) =>
        named.kind === 'secret'
          ? input.kind === 'secret' && named.ref === input.ref
          : input.kind === 'source' &&
            (named.path === input.path ||
              (named.kind === 'folder' && input.path.startsWith(fileOfSource(named.path, '')))),
      );
    if (!isNamed)
      await this.#refuse(
        caller,
        'not-named',
        `it requested the ${input.kind} ${input.kind === 'secret' ? input.ref : input.path}, which the task does not name`,
        key,
      );
  }

  async #openTask(caller: Caller, key: ExecutionKey): Promise<PlannedTask> {
    const planned = await this.#task(caller, key);
    // A run's agents may still send requests after its end: no alarm.
    if (planned.closed !== undefined) throw new Refusal(403, 'run-over', planned.closed);
    return planned;
  }

  async #task(caller: Caller, key: ExecutionKey): Promise<PlannedTask> {
    if (caller.node !== key.node)
      return this.#refuse(caller, 'other-node', `it requested something of node ${key.node}`, key);
    const planned = await this.#parts.orders.find(key);
    if (planned === undefined)
      return this.#refuse(caller, 'no-order', 'it requested a task that is not in the plan of such a run', key);
    if (planned.site !== caller.site)
      return this.#refuse(caller, 'other-node', `it requested something of site ${planned.site}`, key);
    return planned;
  }

  async #refuse(
    caller: Caller,
    kind: string,
    message: string,
    { run, task, generation }: ExecutionKey,
  ): Promise<never> {
    await this.#parts.alarms({ ...caller, kind, message, details: { run, task, generation } });
    throw new Refusal(403, kind, message);
  }
}

const executionOf = (planned: PlannedTask, { generation }: ExecutionKey): Execution => ({
  ...planned.execution,
  generation,
});

function partOf(planned: PlannedTask, execution: Execution, name: 'plan' | 'type' | 'mode' | 'debug') {
  switch (name) {
    case 'plan':
      return planned.plan;
    case 'type':
      return execution.type;
    case 'mode':
      return execution.mode ?? 'apply';
    case 'debug':
      return execution.debug === true ? true : undefined;
  }
}
