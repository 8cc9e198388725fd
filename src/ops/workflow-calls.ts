/** Temporal's client, typed by the contracts: names, inputs and answers. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  QueryNotRegisteredError,
  type WorkflowClient,
  type WorkflowHandle,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type {
  QueryAnswer,
  QueryName,
  SignalName,
  SignalPayload,
  UpdateName,
  UpdateRequest,
  WorkflowContracts,
  WorkflowType,
} from '../../workflows/contract.ts';
import type { SiteRunKind } from '../core/words.ts';

/** A run of one of the workflow types `W`. */
export interface RunHandle<W extends WorkflowType> extends Pick<WorkflowHandle, 'describe' | 'cancel' | 'terminate'> {
  result(): Promise<WorkflowContracts[W]['result']>;
  query<Q extends QueryName>(name: Q): Promise<QueryAnswer<W, Q>>;
  /** A run whose type does not have the update refuses it. */
  update<U extends UpdateName>(name: U, request: UpdateRequest<U>): Promise<QueryAnswer<W, 'status'>>;
  signal<S extends SignalName>(name: S, payload: SignalPayload<S>): Promise<void>;
}

interface StartedRun<W extends WorkflowType> extends RunHandle<W> {
  readonly firstExecutionRunId: string;
}

type StartOptions<W extends WorkflowType> = Omit<WorkflowStartOptions, 'args'> & {
  readonly input: WorkflowContracts[W]['input'];
};

export async function startWorkflow<W extends WorkflowType>(
  client: WorkflowClient,
  type: W,
  { input, ...options }: StartOptions<W>,
): Promise<StartedRun<W>> {
  const handle = await client.start(type, { ...options, args: [input] });
  return { ...runHandle<W>(handle), firstExecutionRunId: handle.firstExecutionRunId };
}

/** @param runId absent: the newest run of the workflow */
export const getRun = <W extends WorkflowType>(
  client: WorkflowClient,
  workflowId: string,
  runId?: string | null,
): RunHandle<W> => runHandle(client.getHandle(workflowId, runId ?? undefined));

const runHandle = <W extends WorkflowType>(handle: WorkflowHandle): RunHandle<W> => ({
  describe: () => handle.describe(),
  cancel: () => handle.cancel(),
  terminate: (reason) => handle.terminate(reason),
  result: () => handle.result(),
  query: (name) => ask(handle, name),
  update: (name, request) => handle.executeUpdate(name, { args: [request] }),
  signal: (name, payload) => handle.signal(name, payload),
});

const MAX_TRIES = 4;

/** A query that comes while the worker drops the run can cost the run a workflow task that waits there (SDK 1.24). */
const PAUSE_MS = 100;

/** Asks again when the query failed: a worker refuses one for which it has executed too much (workflows/run/interceptors.ts). */
async function ask<Answer>(handle: WorkflowHandle, name: QueryName): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await handle.query<Answer>(name);
    } catch (error) {
      if (tries === MAX_TRIES || !(error instanceof QueryNotRegisteredError)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

/** A workflow type that is a run. */
export type RunType = SiteRunKind | 'execute_graph';
