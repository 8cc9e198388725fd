import { ActivityTask } from './activity.ts';
import { askChildToCancel, startChild } from './children.ts';
import type { ActivityPolicy, Execution } from './execution.ts';
import type { Executions } from './executions.ts';
import { failureNamed, milliseconds } from './history.ts';
import { type Command, fromFailure, fromPayload, type Payload } from './sdk.ts';

/** What a workflow has ordered takes effect. */
export function carryOut(server: Executions, execution: Execution, command: Command): void {
  if (command.scheduleActivity) schedule(server, execution, command.scheduleActivity, command);
  else if (command.requestCancelActivity)
    execution.activities.get(command.requestCancelActivity.seq ?? 0)?.requestCancel();
  else if (command.startTimer) {
    const seq = command.startTimer.seq ?? 0;
    server.event(execution, 'TimerStarted', String(seq), false, command);
    startTimer(server, execution, seq, milliseconds(command.startTimer.startToFireTimeout) ?? 0);
  } else if (command.cancelTimer) {
    const seq = command.cancelTimer.seq ?? 0;
    server.event(execution, 'TimerCanceled', String(seq), false);
    execution.timers.get(seq)?.();
    execution.timers.delete(seq);
    execution.inbox = execution.inbox.filter(({ fireTimer }) => fireTimer?.seq !== seq);
  } else if (command.startChildWorkflowExecution)
    startChild(server, execution, command.startChildWorkflowExecution, command);
  else if (command.cancelChildWorkflowExecution)
    askChildToCancel(server, execution, command.cancelChildWorkflowExecution.childWorkflowSeq ?? 0);
  else if (command.signalExternalWorkflowExecution)
    signalExternal(server, execution, command.signalExternalWorkflowExecution);
  else if (command.requestCancelExternalWorkflowExecution)
    cancelExternal(server, execution, command.requestCancelExternalWorkflowExecution);
  else if (command.updateResponse) respond(server, execution, command.updateResponse);
  else if (command.upsertWorkflowSearchAttributes) {
    server.event(execution, 'UpsertWorkflowSearchAttributes', '', false);
    Object.assign(
      execution.searchAttributes,
      command.upsertWorkflowSearchAttributes.searchAttributes?.indexedFields ?? {},
    );
  } else if (command.modifyWorkflowProperties) {
    server.event(execution, 'WorkflowPropertiesModified', '', false);
    Object.assign(execution.memo, command.modifyWorkflowProperties.upsertedMemo?.fields ?? {});
  } else if (command.completeWorkflowExecution) {
    server.event(execution, 'WorkflowExecutionCompleted');
    server.close(execution, 'COMPLETED', command.completeWorkflowExecution.result as Payload | undefined);
  } else if (command.failWorkflowExecution) {
    const failure = command.failWorkflowExecution.failure ?? failureNamed('failed');
    server.event(execution, 'WorkflowExecutionFailed', failure.message ?? '');
    server.close(execution, 'FAILED', undefined, failure);
  } else if (command.cancelWorkflowExecution) {
    server.event(execution, 'WorkflowExecutionCanceled');
    server.close(execution, 'CANCELLED', undefined, { ...failureNamed('cancelled'), canceledFailureInfo: {} });
  } else if (command.continueAsNewWorkflowExecution)
    continueAsNew(server, execution, command.continueAsNewWorkflowExecution);
  else if (command.setPatchMarker) {
    server.event(execution, 'MarkerRecorded', '', false);
    // The SDK keeps the patches of a workflow in a search attribute.
    server.event(execution, 'UpsertWorkflowSearchAttributes', '', false);
  } else if (!command.cancelSignalWorkflow)
    throw new Error(`the simulated server does not know the command ${Object.keys(command).join(', ')}`);
}

function respond(server: Executions, execution: Execution, response: NonNullable<Command['updateResponse']>): void {
  const update = execution.updates.get(response.protocolInstanceId ?? '');
  if (update === undefined) return;
  if (response.accepted) {
    update.state = 'accepted';
    update.accept();
    server.event(execution, 'WorkflowExecutionUpdateAccepted', update.name);
    return;
  }
  const wasAccepted = update.state === 'accepted';
  update.state = 'ended';
  if (wasAccepted) server.event(execution, 'WorkflowExecutionUpdateCompleted', update.name);
  else server.tell(`${execution.workflowId} update ${update.name} rejected`);
  server.time.after(server.random.int(1, 10), () => {
    if (response.completed) update.resolve(fromPayload(response.completed));
    else update.reject(fromFailure(response.rejected ?? failureNamed('rejected')));
  });
}

function schedule(
  server: Executions,
  execution: Execution,
  order: NonNullable<Command['scheduleActivity']>,
  command: Command,
): void {
  const { seq, activityId, activityType } = order;
  const name = (activityId === String(seq) ? activityType : activityId) ?? '';
  server.event(execution, 'ActivityTaskScheduled', name, true, command);
  beginActivity(server, execution, order);
}

export function beginActivity(
  server: Executions,
  execution: Execution,
  command: NonNullable<Command['scheduleActivity']>,
): void {
  const seq = command.seq ?? 0;
  const policy: ActivityPolicy = {
    seq,
    activityId: command.activityId || String(seq),
    type: command.activityType ?? '',
    taskQueue: command.taskQueue || execution.taskQueue,
    args: (command.arguments ?? []) as Payload[],
    scheduleToCloseMs: milliseconds(command.scheduleToCloseTimeout),
    scheduleToStartMs: milliseconds(command.scheduleToStartTimeout),
    startToCloseMs: milliseconds(command.startToCloseTimeout),
    heartbeatMs: milliseconds(command.heartbeatTimeout),
    initialMs: milliseconds(command.retryPolicy?.initialInterval) ?? 1_000,
    coefficient: command.retryPolicy?.backoffCoefficient || 2,
    maximumMs: milliseconds(command.retryPolicy?.maximumInterval),
    maximumAttempts: command.retryPolicy?.maximumAttempts ?? 0,
    notRetried: command.retryPolicy?.nonRetryableErrorTypes ?? [],
    isAbandoned: command.cancellationType === 2,
    isTried: (command.cancellationType ?? 0) === 0,
  };
  const activity = new ActivityTask(server, execution, policy);
  execution.activities.set(seq, activity);
  activity.begin();
}

export function startTimer(server: Executions, execution: Execution, seq: number, ms: number): void {
  execution.timers.set(
    seq,
    server.time.after(ms, () => {
      execution.timers.delete(seq);
      server.event(execution, 'TimerFired', String(seq));
      server.arrived(execution, { fireTimer: { seq } });
    }),
  );
}

/** @param isDelivered the target has it already */
export function signalExternal(
  server: Executions,
  execution: Execution,
  command: NonNullable<Command['signalExternalWorkflowExecution']>,
  isDelivered = false,
): void {
  const { seq, workflowExecution, childWorkflowId, signalName, args, headers } = command;
  const about = `${signalName} to ${childWorkflowId || workflowExecution?.workflowId}`;
  server.event(execution, 'SignalExternalWorkflowExecutionInitiated', about, false);
  server.send(execution, () => {
    const child = childWorkflowId ? server.newest(childWorkflowId) : undefined;
    const target = childWorkflowId
      ? child?.parent?.runId === execution.runId
        ? child
        : undefined
      : targetOf(server, workflowExecution?.workflowId ?? '', workflowExecution?.runId ?? '');
    // No one may signal itself.
    const isOpen = target?.status === 'RUNNING' && target !== execution;
    if (isOpen && !isDelivered)
      server.signalled(target, signalName ?? '', (args ?? []) as Payload[], (headers ?? {}) as Record<string, Payload>);
    const event = isOpen ? 'ExternalWorkflowExecutionSignaled' : 'SignalExternalWorkflowExecutionFailed';
    server.event(execution, event, about, false);
    const failure = isOpen ? undefined : failureNamed('unable to signal external workflow execution');
    server.arrived(execution, { resolveSignalExternalWorkflow: { seq: seq ?? 0, ...(failure ? { failure } : {}) } });
  });
}

function cancelExternal(
  server: Executions,
  execution: Execution,
  command: NonNullable<Command['requestCancelExternalWorkflowExecution']>,
): void {
  const { seq, workflowExecution } = command;
  const workflowId = workflowExecution?.workflowId ?? '';
  server.event(execution, 'RequestCancelExternalWorkflowExecutionInitiated', workflowId, false);
  server.send(execution, () => {
    const found = targetOf(server, workflowId, workflowExecution?.runId ?? '');
    // One that has ended takes it, unlike a signal: nothing is left to do. No one may ask itself.
    const isTaken = found !== undefined && found !== execution;
    if (isTaken && found.status === 'RUNNING') server.cancel(found);
    const event = isTaken ? 'ExternalWorkflowExecutionCancelRequested' : 'RequestCancelExternalWorkflowExecutionFailed';
    server.event(execution, event, workflowId, false);
    const failure = isTaken ? undefined : failureNamed('unable to cancel external workflow');
    server.arrived(execution, {
      resolveRequestCancelExternalWorkflow: { seq: seq ?? 0, ...(failure ? { failure } : {}) },
    });
  });
}

function targetOf(server: Executions, workflowId: string, runId: string): Execution | undefined {
  if (runId === '') return server.newest(workflowId);
  const found = server.byRun(runId);
  // A run that continued as new is the same to those who know its first run.
  if (found?.status === 'CONTINUED_AS_NEW') return server.newest(workflowId);
  return found;
}

function continueAsNew(
  server: Executions,
  execution: Execution,
  command: NonNullable<Command['continueAsNewWorkflowExecution']>,
): void {
  server.event(execution, 'WorkflowExecutionContinuedAsNew');
  const { parent, workflowId, firstRunId, runId } = execution;
  server.end(execution, 'CONTINUED_AS_NEW');
  const memo = command.memo as Record<string, Payload> | undefined;
  const attributes = command.searchAttributes?.indexedFields as Record<string, Payload> | undefined;
  server.begin({
    type: command.workflowType || execution.type,
    workflowId,
    taskQueue: command.taskQueue || execution.taskQueue,
    input: (command.arguments ?? []) as Payload[],
    memo: memo && Object.keys(memo).length > 0 ? { ...memo } : { ...execution.memo },
    searchAttributes:
      attributes && Object.keys(attributes).length > 0 ? { ...attributes } : { ...execution.searchAttributes },
    headers: (command.headers ?? {}) as Record<string, Payload>,
    ...(parent === undefined ? {} : { parent }),
    firstRunId,
    continuedFrom: runId,
  });
}
