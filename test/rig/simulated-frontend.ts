import { status as Code, Metadata } from '@grpc/grpc-js';
import {
  AlreadyStarted,
  type Execution,
  type Failure,
  NotFound,
  type Payload,
  QueryFailed,
  type SimulatedTemporal,
  toPayload,
  UpdateFailed,
} from '@sitewright/temporal-simulator';
import type { ConnectionLike } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import Long from 'long';

type Api = temporal.api.workflowservice.v1.WorkflowService;
type Enums = typeof temporal.api.enums.v1;
const enums: Enums = temporal.api.enums.v1;

/** The simulated Temporal as the SDK's client reaches a server: requests and answers of its API, without a network. */
export function simulatedConnection(server: SimulatedTemporal): ConnectionLike {
  const service: Partial<Record<keyof Api, (request: never) => unknown>> = {
    ...starting(server),
    ...asking(server),
    ...telling(server),
    ...completing(server),
    getSystemInfo: () => ({ serverVersion: '1.31.0', capabilities: { supportsSchedules: true } }),
    describeNamespace: () => ({ namespaceInfo: { name: 'default' }, config: {} }),
    registerNamespace: () => ({}),
  };
  const workflowService = new Proxy(service as unknown as Api, {
    get(target, name) {
      const work = target[name as keyof Api] as ((request: unknown) => unknown) | undefined;
      if (work === undefined) return undefined;
      return async (request: unknown) => {
        try {
          return await work(request);
        } catch (error) {
          throw asServiceError(error);
        }
      };
    },
  });
  return {
    workflowService,
    operatorService: {
      listSearchAttributes: async () => ({ customAttributes: {}, systemAttributes: {} }),
      addSearchAttributes: async () => ({}),
    },
    plugins: [],
    ensureConnected: async () => undefined,
    close: async () => undefined,
    withDeadline: within,
    withMetadata: (_metadata: unknown, work: () => Promise<unknown>) => work(),
    withAbortSignal: (_signal: unknown, work: () => Promise<unknown>) => work(),
    withApiKey: (_key: unknown, work: () => Promise<unknown>) => work(),
  } as unknown as ConnectionLike;
}

/** A request that gets no answer in time. */
async function within<T>(deadline: number | Date, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const ms = Number(deadline) - Date.now();
    timer = setTimeout(() => reject(serviceError(Code.DEADLINE_EXCEEDED, 'no answer in time')), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function serviceError(code: Code, details: string): Error {
  return Object.assign(new Error(`${code} ${Code[code]}: ${details}`), { code, details, metadata: new Metadata() });
}

function asServiceError(error: unknown): unknown {
  if (error instanceof NotFound) return serviceError(Code.NOT_FOUND, error.message);
  if (error instanceof AlreadyStarted) return serviceError(Code.ALREADY_EXISTS, error.message);
  if (error instanceof QueryFailed) return serviceError(Code.INVALID_ARGUMENT, error.message);
  return error;
}

type WorkflowService = typeof temporal.api.workflowservice.v1;
type Request<Name extends keyof WorkflowService> = WorkflowService[Name] extends { create(given?: infer I): unknown }
  ? NonNullable<I>
  : never;
type Ref = temporal.api.common.v1.IWorkflowExecution | null | undefined;

const found = (server: SimulatedTemporal, of: Ref): Execution => server.find(of?.workflowId ?? '', of?.runId || null);

/** By the run that a client chose, or the newest; a request about a run that has ended is refused. */
function foundOpen(server: SimulatedTemporal, of: Ref, firstRunId?: string | null): Execution {
  const execution = found(server, of);
  const isOther = firstRunId && execution.firstRunId !== firstRunId;
  if (execution.status !== 'RUNNING' || isOther) throw new NotFound('workflow execution already completed');
  return execution;
}

function starting(server: SimulatedTemporal) {
  const start = (request: Request<'StartWorkflowExecutionRequest'>): { execution: Execution; isNew: boolean } => {
    const workflowId = request.workflowId ?? '';
    const before = server.newest(workflowId);
    const conflict = request.workflowIdConflictPolicy ?? 0;
    const reuse = request.workflowIdReusePolicy ?? 0;
    const { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } = enums;
    const isTerminating =
      conflict === WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING ||
      reuse === WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING;
    const execution = server.startWith(
      {
        type: request.workflowType?.name ?? '',
        workflowId,
        taskQueue: request.taskQueue?.name ?? '',
        input: (request.input?.payloads ?? []) as Payload[],
        memo: { ...(request.memo?.fields as Record<string, Payload> | undefined) },
        searchAttributes: { ...(request.searchAttributes?.indexedFields as Record<string, Payload> | undefined) },
        headers: { ...(request.header?.fields as Record<string, Payload> | undefined) },
        ...(request.userMetadata ? { userMetadata: request.userMetadata } : {}),
      },
      {
        onConflict: isTerminating
          ? 'terminate-existing'
          : conflict === WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
            ? 'use-existing'
            : 'fail',
        reuse:
          reuse === WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
            ? 'reject'
            : reuse === WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
              ? 'failed-only'
              : 'allow',
      },
    );
    return { execution, isNew: execution !== before };
  };
  const update = async (request: Request<'UpdateWorkflowExecutionRequest'>, execution: Execution) => {
    const { meta, input } = request.request ?? {};
    const id = meta?.updateId ?? server.random.uuid();
    const known = execution.updates.get(id);
    if (known === undefined && execution.status !== 'RUNNING')
      throw new NotFound('workflow execution already completed');
    if (known === undefined)
      void server.admit(execution, id, input?.name ?? '', (input?.args?.payloads ?? []) as Payload[]);
    return settledUpdate(execution, id, request.waitPolicy?.lifecycleStage ?? 0);
  };
  return {
    startWorkflowExecution: (request: Request<'StartWorkflowExecutionRequest'>) => {
      const { execution, isNew } = start(request);
      return { runId: execution.runId, started: isNew };
    },
    signalWithStartWorkflowExecution: (request: Request<'SignalWithStartWorkflowExecutionRequest'>) => {
      const { execution, isNew } = start({ ...request, workflowIdConflictPolicy: 2 });
      server.signalled(execution, request.signalName ?? '', (request.signalInput?.payloads ?? []) as Payload[]);
      return { runId: execution.runId, started: isNew };
    },
    updateWorkflowExecution: (request: Request<'UpdateWorkflowExecutionRequest'>) =>
      update(request, found(server, request.workflowExecution)),
    executeMultiOperation: async ({ operations }: Request<'ExecuteMultiOperationRequest'>) => {
      const { execution, isNew } = start(operations?.[0]?.startWorkflow ?? {});
      const updateWorkflow = await update(operations?.[1]?.updateWorkflow ?? {}, execution);
      return {
        responses: [{ startWorkflow: { runId: execution.runId, started: isNew } }, { updateWorkflow }],
      };
    },
    pollWorkflowExecutionUpdate: (request: Request<'PollWorkflowExecutionUpdateRequest'>) => {
      const { updateId, workflowExecution } = request.updateRef ?? {};
      const stage = request.waitPolicy?.lifecycleStage ?? 0;
      return settledUpdate(found(server, workflowExecution), updateId ?? '', stage);
    },
  };
}

const { UpdateWorkflowExecutionLifecycleStage: Stage } = enums;

async function settledUpdate(execution: Execution, id: string, wanted: number) {
  const update = execution.updates.get(id);
  if (update === undefined) throw new NotFound(`update ${id} not found`);
  const updateRef = { workflowExecution: { workflowId: execution.workflowId, runId: execution.runId }, updateId: id };
  if (wanted < Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED) {
    await update.accepted;
    if (update.state === 'accepted')
      return { updateRef, stage: Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED };
  }
  const stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;
  try {
    const value = await update.settled;
    return { updateRef, stage, outcome: { success: { payloads: [toPayload(value)] } } };
  } catch (error) {
    if (error instanceof UpdateFailed) {
      if (update.state !== 'accepted') throw new NotFound('workflow execution already completed');
      const failure = { message: error.message, applicationFailureInfo: { type: 'AcceptedUpdateCompletedWorkflow' } };
      return { updateRef, stage, outcome: { failure } };
    }
    return { updateRef, stage, outcome: { failure: failureOf(error) } };
  }
}

const failureOf = (error: unknown): Failure =>
  (error as { failure?: Failure }).failure ?? { message: (error as Error).message, serverFailureInfo: {} };

function telling(server: SimulatedTemporal) {
  return {
    signalWorkflowExecution: (request: Request<'SignalWorkflowExecutionRequest'>) => {
      const execution = foundOpen(server, request.workflowExecution);
      const headers = { ...(request.header?.fields as Record<string, Payload> | undefined) };
      server.signalled(execution, request.signalName ?? '', (request.input?.payloads ?? []) as Payload[], headers);
      return {};
    },
    requestCancelWorkflowExecution: (request: Request<'RequestCancelWorkflowExecutionRequest'>) => {
      server.cancel(foundOpen(server, request.workflowExecution, request.firstExecutionRunId), request.reason ?? '');
      return {};
    },
    terminateWorkflowExecution: (request: Request<'TerminateWorkflowExecutionRequest'>) => {
      const execution = foundOpen(server, request.workflowExecution, request.firstExecutionRunId);
      server.terminate(execution, request.reason ?? '');
      return {};
    },
    resetWorkflowExecution: (request: Request<'ResetWorkflowExecutionRequest'>) => {
      const base = found(server, request.workflowExecution);
      const wanted = Number(request.workflowTaskFinishEventId);
      const turn = base.events.slice(0, wanted - 1).filter(({ type }) => type === 'WorkflowTaskCompleted').length;
      return { runId: server.reset(base, turn, request.reason ?? '').runId };
    },
  };
}

function asking(server: SimulatedTemporal) {
  return {
    queryWorkflow: async (request: Request<'QueryWorkflowRequest'>) => {
      const { queryType, queryArgs } = request.query ?? {};
      const execution = found(server, request.execution);
      const value = await server.queried(execution, queryType ?? '', (queryArgs?.payloads ?? []) as Payload[]);
      return { queryResult: { payloads: [toPayload(value)] } };
    },
    describeWorkflowExecution: (request: Request<'DescribeWorkflowExecutionRequest'>) => {
      const execution = found(server, request.execution);
      const { activities, children, task, failedTasks, taskQueue, resetTo } = execution;
      const scheduled = execution.events.findLast(({ type }) => type === 'WorkflowTaskScheduled');
      const { PendingActivityState, PendingWorkflowTaskState } = enums;
      return {
        executionConfig: { taskQueue: { name: taskQueue }, userMetadata: execution.userMetadata },
        workflowExecutionInfo: infoOf(execution),
        workflowExtendedInfo: resetTo ? { resetRunId: resetTo } : {},
        pendingActivities: [...activities.values()].map(({ policy, isStarted, attempt, details, lastFailure }) => ({
          activityId: policy.activityId,
          activityType: { name: policy.type },
          attempt,
          ...(details === undefined ? {} : { heartbeatDetails: { payloads: [toPayload(details)] } }),
          ...(lastFailure === undefined ? {} : { lastFailure }),
          ...(isStarted ? { lastStartedTime: asTimestamp(Date.now()) } : {}),
          state: isStarted
            ? PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
            : PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED,
        })),
        pendingChildren: [...children.values()]
          .filter(({ runId }) => runId !== null)
          .map(({ workflowId, runId, type }) => ({ workflowId, runId, workflowTypeName: type })),
        ...(task === 'none'
          ? {}
          : {
              pendingWorkflowTask: {
                state:
                  task === 'running'
                    ? PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED
                    : PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED,
                scheduledTime: asTimestamp(scheduled?.at ?? 0),
                attempt: failedTasks + 1,
              },
            }),
      };
    },
    getWorkflowExecutionHistory: async (request: Request<'GetWorkflowExecutionHistoryRequest'>) => {
      const execution = found(server, request.execution);
      const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = enums.HistoryEventFilterType;
      if (request.historyEventFilterType !== HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
        return { history: { events: execution.events.map((_, at) => eventOf(server, execution, at)) } };
      if (request.waitNewEvent) await server.ended(execution);
      if (execution.status === 'RUNNING') return { history: { events: [] } };
      return { history: { events: [eventOf(server, execution, execution.events.length - 1)] } };
    },
    getWorkflowExecutionHistoryReverse: (request: Request<'GetWorkflowExecutionHistoryReverseRequest'>) => {
      const execution = found(server, request.execution);
      return { history: { events: execution.events.map((_, at) => eventOf(server, execution, at)).reverse() } };
    },
    listWorkflowExecutions: (request: Request<'ListWorkflowExecutionsRequest'>) => ({
      executions: listed(server, request.query ?? '').map(infoOf),
    }),
    countWorkflowExecutions: (request: Request<'CountWorkflowExecutionsRequest'>) => ({
      count: listed(server, request.query ?? '').length,
    }),
    describeTaskQueue: (request: Request<'DescribeTaskQueueRequest'>) => {
      const isOfWorkflows = (request.taskQueueType ?? 1) <= 1;
      const pollers = server.pollers(request.taskQueue?.name ?? '', isOfWorkflows ? 'workflow' : 'activity');
      return { pollers: pollers.map(({ host }) => ({ identity: host.name, lastAccessTime: asTimestamp(Date.now()) })) };
    },
  };
}

/** People complete activities by hand. */
function completing(server: SimulatedTemporal) {
  const activity = (request: { workflowId?: string | null; runId?: string | null; activityId?: string | null }) => {
    const execution = server.find(request.workflowId ?? '', request.runId || null);
    const task = [...execution.activities.values()].find(({ policy }) => policy.activityId === request.activityId);
    if (task === undefined) throw new NotFound(`no activity ${request.activityId}`);
    return task;
  };
  return {
    respondActivityTaskCompletedById: (request: Request<'RespondActivityTaskCompletedByIdRequest'>) => {
      activity(request).answer({ kind: 'completed', result: request.result?.payloads?.[0] as Payload });
      return {};
    },
    respondActivityTaskFailedById: (request: Request<'RespondActivityTaskFailedByIdRequest'>) => {
      activity(request).answer({ kind: 'failed', failure: request.failure ?? {} });
      return {};
    },
    respondActivityTaskCanceledById: (request: Request<'RespondActivityTaskCanceledByIdRequest'>) => {
      activity(request).answer({ kind: 'cancelled' });
      return {};
    },
  };
}

/** Clauses joined by AND, as the product's and the tests' lists have them. */
function listed(server: SimulatedTemporal, query: string): Execution[] {
  const clauses = query.split(/\s+AND\s+/i).filter((clause) => clause.trim() !== '');
  const tests = clauses.map((clause): ((execution: Execution) => boolean) => {
    if (/^\s*CloseTime IS NULL\s*$/i.test(clause)) return ({ status }) => status === 'RUNNING';
    const [, name, operator, value] = /^\s*`?(\w+)`?\s*(=|!=|STARTS_WITH)\s*["']([^"']*)["']\s*$/.exec(clause) ?? [];
    if (name === undefined) throw serviceError(Code.INVALID_ARGUMENT, `the simulated lists do not know: ${clause}`);
    const isMet = (is: string) =>
      operator === '=' ? is === value : operator === '!=' ? is !== value : is.startsWith(value!);
    if (name === 'WorkflowId') return ({ workflowId }) => isMet(workflowId);
    if (name === 'RunId') return ({ runId }) => isMet(runId);
    if (name === 'WorkflowType') return ({ type }) => isMet(type);
    if (name === 'TaskQueue') return ({ taskQueue }) => isMet(taskQueue);
    if (name === 'ExecutionStatus') return ({ status }) => isMet(status[0]! + status.slice(1).toLowerCase());
    throw serviceError(Code.INVALID_ARGUMENT, `the simulated lists do not know: ${clause}`);
  });
  return server.executions.filter((execution) => tests.every((test) => test(execution))).toReversed();
}

const STATUS = {
  RUNNING: enums.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
  COMPLETED: enums.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED,
  FAILED: enums.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED,
  CANCELLED: enums.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED,
  TERMINATED: enums.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED,
  CONTINUED_AS_NEW: enums.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW,
};

function infoOf(execution: Execution) {
  const { workflowId, runId, firstRunId, type, taskQueue, startedAt, closedAt, status, parent, events } = execution;
  const { memo, searchAttributes } = execution;
  return {
    execution: { workflowId, runId },
    firstRunId,
    type: { name: type },
    taskQueue,
    startTime: asTimestamp(startedAt),
    executionTime: asTimestamp(startedAt),
    ...(closedAt === null ? {} : { closeTime: asTimestamp(closedAt) }),
    status: STATUS[status],
    historyLength: Long.fromNumber(events.length),
    memo: { fields: memo },
    searchAttributes: { indexedFields: searchAttributes },
    rootExecution: { workflowId, runId },
    ...(parent === undefined ? {} : { parentExecution: { workflowId: parent.workflowId, runId: parent.runId } }),
  };
}

const asTimestamp = (at: number) => ({
  seconds: Long.fromNumber(Math.floor(at / 1000)),
  nanos: (at % 1000) * 1_000_000,
});

/** With the attributes that clients read. */
function eventOf(server: SimulatedTemporal, execution: Execution, at: number): temporal.api.history.v1.IHistoryEvent {
  const { type, data, at: time } = execution.events[at]!;
  const name = `${type[0]!.toLowerCase()}${type.slice(1)}EventAttributes`;
  return {
    eventId: Long.fromNumber(at + 1),
    eventTime: asTimestamp(time),
    eventType: enums.EventType[`EVENT_TYPE_${snake(type)}` as keyof Enums['EventType']],
    [name]: attributesOf(server, execution, at),
    ...(data?.userMetadata ? { userMetadata: data.userMetadata } : {}),
  };
}

const snake = (name: string): string => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

function attributesOf(server: SimulatedTemporal, execution: Execution, at: number): object {
  const { type, detail, data } = execution.events[at]!;
  const before = (wanted: string) => execution.events.slice(0, at).findLastIndex((one) => one.type === wanted) + 1;
  const { result, failure } = execution.answer;
  switch (type) {
    case 'WorkflowExecutionStarted':
      return { workflowType: { name: execution.type }, input: { payloads: execution.input } };
    case 'WorkflowExecutionCompleted':
      return result === undefined ? {} : { result: { payloads: [result] } };
    case 'WorkflowExecutionFailed':
      return { failure };
    case 'WorkflowExecutionTerminated':
      return { reason: detail };
    case 'WorkflowExecutionContinuedAsNew': {
      const next = server.executions.find(({ continuedFrom }) => continuedFrom === execution.runId);
      return { newExecutionRunId: next?.runId };
    }
    case 'WorkflowExecutionSignaled':
      return { signalName: detail };
    case 'ActivityTaskScheduled': {
      const { activityType, taskQueue, arguments: input, ...others } = data?.scheduleActivity ?? {};
      return {
        ...others,
        activityType: { name: activityType },
        taskQueue: { name: taskQueue },
        input: { payloads: input },
        workflowTaskCompletedEventId: Long.fromNumber(before('WorkflowTaskCompleted')),
      };
    }
    case 'TimerStarted':
      return { ...data?.startTimer };
    case 'StartChildWorkflowExecutionInitiated': {
      const { workflowType, ...others } = data?.startChildWorkflowExecution ?? {};
      return { ...others, workflowType: { name: workflowType } };
    }
    case 'ChildWorkflowExecutionStarted': {
      const child = server.executions.findLast(
        ({ workflowId, parent, takenOverBy }) =>
          workflowId === detail && (parent?.runId === execution.runId || takenOverBy?.runId === execution.runId),
      );
      return { workflowExecution: { workflowId: detail, runId: child?.firstRunId } };
    }
    default:
      return {};
  }
}
