import type { Execution } from './execution.ts';
import { Executions, NotFound } from './executions.ts';
import { resetRun } from './reset.ts';
import { type Payload, toPayloads } from './sdk.ts';
import { deferred } from './virtual-time.ts';
import { answerQueries, takeTurn } from './workflow-task.ts';

export interface StartRequest extends Policies {
  readonly type: string;
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: readonly unknown[];
  readonly memo?: Readonly<Record<string, unknown>>;
}

interface Policies {
  /** When one with the id is open. Default: fail. */
  readonly onConflict?: 'fail' | 'use-existing' | 'terminate-existing' | undefined;
  /** When one with the id has ended. Default: allow. */
  readonly reuse?: 'allow' | 'failed-only' | 'reject' | undefined;
}

export class AlreadyStarted extends Error {}

type Started = Parameters<Executions['begin']>[0];

/** A Temporal server without time, network and disk: what its clients ask of it. */
export class SimulatedTemporal extends Executions {
  start({ args, memo = {}, onConflict, reuse, ...request }: StartRequest): Execution {
    const fields = Object.entries(memo).map(([name, value]) => [name, toPayloads([value])[0]!] as const);
    return this.startWith(
      { ...request, input: toPayloads(args), memo: Object.fromEntries(fields) },
      { onConflict, reuse },
    );
  }

  /** The same with what a client has encoded. */
  startWith(given: Started, { onConflict = 'fail', reuse = 'allow' }: Policies = {}): Execution {
    const { workflowId } = given;
    const existing = this.newest(workflowId);
    if (existing?.status === 'RUNNING') {
      if (onConflict === 'use-existing') return existing;
      if (onConflict === 'fail') throw new AlreadyStarted(workflowId);
      this.terminate(existing, 'replaced by a new start');
    } else if (existing !== undefined && reuse !== 'allow') {
      if (reuse === 'reject' || existing.status === 'COMPLETED') throw new AlreadyStarted(workflowId);
    }
    return this.begin(given);
  }

  signal(execution: Execution, name: string, args: readonly unknown[]): void {
    if (execution.status !== 'RUNNING') throw new NotFound(`${execution.workflowId} has ended`);
    this.signalled(execution, name, toPayloads(args));
  }

  /** Resolves with the answer of the update. */
  update(execution: Execution, name: string, args: readonly unknown[], id = this.random.uuid()): Promise<unknown> {
    const earlier = execution.updates.get(id);
    if (earlier !== undefined) return earlier.settled;
    if (execution.status !== 'RUNNING') throw new NotFound(`${execution.workflowId} has ended`);
    return this.admit(execution, id, name, toPayloads(args));
  }

  query(execution: Execution, name: string, args: readonly unknown[] = []): Promise<unknown> {
    return this.queried(execution, name, toPayloads(args));
  }

  /** The same with what a client has encoded. */
  queried(execution: Execution, name: string, args: Payload[]): Promise<unknown> {
    const { promise, resolve, reject } = deferred<unknown>();
    execution.queries.push({ name, args, resolve, reject });
    if (execution.task === 'none') this.time.after(this.random.int(1, 10), () => this.answerQueries(execution));
    return promise;
  }

  /**
   * Puts another execution in the place of a run: with the same history up to a workflow task, and from there with new decisions.
   *
   * @param turn the first workflow task that is decided anew
   */
  reset(base: Execution, turn: number, reason: string): Execution {
    return resetRun(this, base, turn, reason);
  }

  protected override takeTurn(execution: Execution): Promise<void> {
    return takeTurn(this, execution);
  }

  protected override answerQueries(execution: Execution): Promise<void> {
    return answerQueries(this, execution);
  }
}
