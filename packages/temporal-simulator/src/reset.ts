import { newChild, startChild } from './children.ts';
import { beginActivity, signalExternal, startTimer } from './commands.ts';
import { blankExecution, type Execution } from './execution.ts';
import type { Executions } from './executions.ts';
import { milliseconds, waitingAfter } from './history.ts';
import { type ChildCommand, type Job, type Payload, seedOf } from './sdk.ts';

const UPDATE_ADMITTED = 'WorkflowExecutionUpdateAdmitted';

/** `SimulatedTemporal.reset`. */
export function resetRun(server: Executions, base: Execution, turn: number, reason: string): Execution {
  const again = base.turns[turn];
  if (again === undefined) throw new RangeError(`${base.workflowId} has no workflow task ${turn}`);
  // What a workflow task in flight was given is in the history, too: the server takes signals from there (`reapplyEvents` of its
  // workflow_resetter.go), also those before a task that has started and not ended.
  const done = base.turns.slice(turn).flatMap(({ activations: [first] }) => first?.jobs ?? []);
  const later = [...done, ...base.taken, ...base.inbox];
  const newest = server.newest(base.workflowId);
  const running = newest?.status === 'RUNNING' ? newest : undefined;
  if (running !== undefined) {
    running.resetTo = '';
    server.terminate(running, `reset: ${reason}`);
    // One that runs on for a later execution is ended like any other, with its children (seen with server 1.32).
    if (running !== base) server.closeChildren(running);
  }
  const runId = server.random.uuid();
  const { workflowId, originalRunId, firstRunId, type, taskQueue, input, startedAt, headers, parent } = base;
  const execution: Execution = {
    ...{ workflowId, originalRunId, firstRunId, type, taskQueue, input, startedAt, headers, parent },
    ...blankExecution(runId),
    takenOverBy: base.takenOverBy,
    earlierRuns: [...base.earlierRuns, base.runId],
    memo: { ...base.memo },
    searchAttributes: { ...base.searchAttributes },
    turns: base.turns.slice(0, turn),
    events: eventsBefore(base, turn),
    flags: base.turns.slice(0, turn).flatMap(({ flags }) => flags),
  };
  // One that runs on for another run of the workflow is terminated, and not continued.
  for (const before of new Set([base, running]))
    if (before?.status === 'TERMINATED' && before.firstRunId === firstRunId) before.resetTo = runId;
  server.add(execution);
  server.event(execution, 'WorkflowTaskFailed', `reset: ${reason}`);
  // The patches that it set are not in the history that is kept.
  const arrived = again.activations[0]!.jobs.filter(({ doUpdate, notifyHasPatch }) => !doUpdate && !notifyHasPatch);
  execution.inbox.push(...arrived, { updateRandomSeed: { randomnessSeed: seedOf(runId) as never } });
  // Requests of people that came later are not lost.
  const kept = new Set<Job>(arrived);
  for (const job of later) {
    const { signalWorkflow, doUpdate } = job;
    if (signalWorkflow && !kept.has(job)) {
      server.event(execution, 'WorkflowExecutionSignaled', signalWorkflow.signalName ?? '');
      execution.inbox.push(job);
    }
    // One that an earlier reset has admitted is in the history that is kept.
    const isAdmitted = execution.events.some(({ type, detail }) => type === UPDATE_ADMITTED && detail === doUpdate?.id);
    if (doUpdate && !isAdmitted) server.event(execution, UPDATE_ADMITTED, doUpdate.id ?? '', false);
    if (doUpdate)
      void server.admit(execution, doUpdate.id ?? '', doUpdate.name ?? '', [...(doUpdate.input ?? [])] as Payload[]);
  }
  const waiting = waitingAfter(execution.turns, arrived);
  for (const { command } of waiting.activities.values()) beginActivity(server, execution, command);
  for (const [seq, { command, at }] of waiting.timers) {
    const due = at + (milliseconds(command.startToFireTimeout) ?? 0);
    startTimer(server, execution, seq, due - server.time.now);
  }
  for (const [seq, child] of waiting.children) takeOver(server, execution, seq, child, running ?? base);
  // A server sends what is on its way again, and a workflow that has it takes it once.
  for (const [seq, command] of waiting.signals) {
    const isDelivered = later.some(
      ({ resolveSignalExternalWorkflow: sent }) => sent?.seq === seq && sent.failure == null,
    );
    signalExternal(server, execution, command, isDelivered);
  }
  server.wake(execution);
  return execution;
}

/** Up to the start of the workflow task that is decided anew. */
function eventsBefore({ events }: Execution, turn: number): Execution['events'] {
  let completed = 0;
  const end = events.findIndex(({ type }) => type === 'WorkflowTaskCompleted' && completed++ === turn);
  return end < 0 ? [...events] : events.slice(0, end);
}

/** A child that the run was waiting for goes on as the new execution's. */
function takeOver(
  server: Executions,
  execution: Execution,
  seq: number,
  { command, isStarted }: { readonly command: ChildCommand; readonly isStarted: boolean },
  before: Execution,
): void {
  const child = server.newest(command.workflowId ?? '');
  if (child === undefined) {
    startChild(server, execution, command);
    return;
  }
  execution.children.set(seq, { workflowId: child.workflowId, runId: child.runId, ...newChild(command) });
  child.takenOverBy = { runId: execution.runId, seq };
  // The new execution learns of a start that it does not know yet, and of an end (seen with server 1.29).
  if (!isStarted) {
    server.event(execution, 'ChildWorkflowExecutionStarted', child.workflowId);
    const succeeded = { runId: child.firstRunId };
    server.arrived(execution, { resolveChildWorkflowExecutionStart: { seq, succeeded } });
  }
  // Of an end after that of the run that is reset it does not learn: there was no one to tell (seen with server 1.29).
  const wasHeard = !isStarted || !before.children.has(seq);
  if (child.status !== 'RUNNING' && wasHeard) server.childClosed(execution, seq, child);
}
