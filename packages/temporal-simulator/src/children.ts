import { CHILD_CANCELLATION, type Child, type Execution } from './execution.ts';
import type { Executions } from './executions.ts';
import type { ChildCommand, Command, Payload } from './sdk.ts';

export function startChild(server: Executions, execution: Execution, command: ChildCommand, data: Command = {}): void {
  const seq = command.seq ?? 0;
  const workflowId = command.workflowId ?? '';
  const entry: Child = { workflowId, runId: null, ...newChild(command) };
  execution.children.set(seq, entry);
  server.event(execution, 'StartChildWorkflowExecutionInitiated', workflowId, true, data);
  server.time.after(server.random.int(1, 20), () => {
    if (execution.status !== 'RUNNING') return;
    const existing = server.newest(workflowId);
    const policy = command.workflowIdReusePolicy ?? 0;
    if (existing?.status === 'RUNNING' && policy === 4) server.terminate(existing, 'replaced by a new start');
    const isTaken =
      server.newest(workflowId)?.status === 'RUNNING' ||
      (existing !== undefined && (policy === 3 || (policy === 2 && existing.status === 'COMPLETED')));
    if (isTaken) {
      execution.children.delete(seq);
      server.event(execution, 'StartChildWorkflowExecutionFailed', workflowId);
      server.arrived(execution, {
        resolveChildWorkflowExecutionStart: {
          seq,
          failed: { workflowId, workflowType: command.workflowType ?? '', cause: 1 },
        },
      });
      return;
    }
    const child = server.begin({
      type: command.workflowType ?? '',
      workflowId,
      taskQueue: command.taskQueue || execution.taskQueue,
      input: (command.input ?? []) as Payload[],
      memo: { ...(command.memo as Record<string, Payload>) },
      searchAttributes: { ...(command.searchAttributes?.indexedFields as Record<string, Payload> | undefined) },
      headers: (command.headers ?? {}) as Record<string, Payload>,
      parent: {
        workflowId: execution.workflowId,
        runId: execution.runId,
        seq,
        closePolicy: command.parentClosePolicy ?? 0,
      },
    });
    entry.runId = child.runId;
    server.event(execution, 'ChildWorkflowExecutionStarted', workflowId);
    server.arrived(execution, { resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: child.runId } } });
    if (entry.cancelRequested) askChildToCancel(server, execution, seq);
  });
}

/**
 * An open child of the execution before a reset refuses it; one that has ended takes it (seen with server 1.29). The SDK waits for the
 * end of a child in mode `WAIT_CANCELLATION_REQUESTED`, too.
 */
export function askChildToCancel(server: Executions, execution: Execution, seq: number): void {
  const entry = execution.children.get(seq);
  if (entry === undefined || entry.cancellation === CHILD_CANCELLATION.abandon) return;
  entry.cancelRequested = true;
  if (entry.runId === null) return;
  server.event(execution, 'RequestCancelExternalWorkflowExecutionInitiated', entry.workflowId, false);
  server.send(execution, () => {
    const child = server.byRun(entry.runId!);
    const isOpen = child?.status === 'RUNNING';
    const isTaken = child !== undefined && (!isOpen || child.parent?.runId === execution.runId);
    if (isTaken && isOpen) server.cancel(child, 'by its parent');
    const event = isTaken ? 'ExternalWorkflowExecutionCancelRequested' : 'RequestCancelExternalWorkflowExecutionFailed';
    server.event(execution, event, entry.workflowId, false);
  });
}

export const newChild = (command: ChildCommand) => ({
  type: command.workflowType ?? '',
  cancelRequested: false,
  cancellation: command.cancellationType ?? 0,
  isResolved: false,
});
