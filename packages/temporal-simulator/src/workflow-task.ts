import { carryOut } from './commands.ts';
import type { Execution, Update } from './execution.ts';
import type { Executions } from './executions.ts';
import { asReplayed, sortJobs, type Turn } from './history.ts';
import type { Command, Job } from './sdk.ts';
import type { Worker } from './worker.ts';

const TASK_TIMEOUT_MS = 10_000;

export class QueryFailed extends Error {}

/** A workflow task: a worker gets what has arrived for the run, and what it answers is carried out. */
export async function takeTurn(server: Executions, execution: Execution): Promise<void> {
  if (execution.status !== 'RUNNING') return;
  const worker = workerFor(server, execution);
  if (worker === undefined) {
    server.whenWorkerComes(() => takeTurn(server, execution));
    return;
  }
  execution.task = 'running';
  const token = ++execution.taskToken;
  const at = server.time.now;
  const arrived = execution.inbox.splice(0);
  execution.taken = arrived;
  const updates = [...execution.updates.values()].filter(({ state }) => state === 'admitted');
  for (const update of updates) update.state = 'sent';
  const jobs = sortJobs([...arrived, ...updates.map(asJob)]);
  server.event(execution, 'WorkflowTaskStarted', worker.host.name);
  const historyLength = execution.events.length;
  const fault = server.faults.turn(execution, worker);
  const done = await worker.turn(server, execution, { at, jobs, historyLength });
  execution.sticky = worker;
  const takeBack = (why: string, delay: number): void => {
    if (execution.status !== 'RUNNING' || execution.taskToken !== token) return;
    server.event(execution, 'WorkflowTaskFailed', why);
    execution.taken = [];
    execution.inbox.unshift(...arrived);
    for (const update of updates) if (update.state === 'sent') update.state = 'admitted';
    execution.task = 'none';
    worker.forget(execution);
    server.wake(execution, delay);
  };
  if (fault === 'lost') {
    worker.forget(execution);
    server.time.after(TASK_TIMEOUT_MS, () => takeBack('its worker died', 1));
    return;
  }
  const duration = fault === 'late' ? server.random.int(1_000, 9_000) : server.random.int(1, 40);
  server.time.after(duration, async () => {
    if (execution.status !== 'RUNNING' || execution.taskToken !== token) return;
    if (!worker.host.alive) {
      // The server notices when the time of the task is over.
      server.time.after(Math.max(1, at + TASK_TIMEOUT_MS - server.time.now), () => takeBack('its worker died', 1));
      return;
    }
    if (!done.ok) {
      execution.failedTasks++;
      server.violated(`a workflow task of ${execution.workflowId} failed: ${done.message}`);
      takeBack(done.message, 1_000 * 2 ** Math.min(execution.failedTasks, 6));
      return;
    }
    const commands = done.activations.flatMap((one) => one.commands);
    const ends = commands.some(isEnd);
    if (ends && execution.inbox.length > 0) {
      takeBack('UnhandledCommand', 1);
      return;
    }
    execution.failedTasks = 0;
    server.turnsDone++;
    execution.task = 'none';
    execution.taken = [];
    settle(execution, done.activations);
    if (complete(server, execution, { at, historyLength, ...done }, updates)) worker.recorded(execution);
    if (fault === 'lost-cache') worker.forget(execution);
    server.wake(execution);
    await answerQueries(server, execution);
  });
}

/** What the SDK has told the run within its workflow task, of what it cancelled there, is told once: an end that came meanwhile is dropped. */
function settle(execution: Execution, activations: Turn['activations']): void {
  for (const { resolveActivity, resolveChildWorkflowExecution: child } of activations
    .slice(1)
    .flatMap(({ jobs }) => jobs)) {
    execution.inbox = execution.inbox.filter(
      (job) =>
        !(resolveActivity && job.resolveActivity?.seq === resolveActivity.seq) &&
        !(child && job.resolveChildWorkflowExecution?.seq === child.seq),
    );
    const known = child && execution.children.get(child.seq ?? 0);
    if (known) known.isResolved = true;
  }
}

/** Whether the turn left a trace in the history. */
function complete(
  server: Executions,
  execution: Execution,
  done: Pick<Turn, 'at' | 'historyLength' | 'activations' | 'flags' | 'isJoined'>,
  updates: readonly Update[],
): boolean {
  const responses = done.activations.flatMap(({ commands }) =>
    commands.flatMap(({ updateResponse }) => updateResponse ?? []),
  );
  const refused = new Set(
    updates
      .filter(({ id }) => {
        const first = responses.find(({ protocolInstanceId }) => protocolInstanceId === id);
        return first !== undefined && !first.accepted;
      })
      .map(({ id }) => id),
  );
  const recorded = done.activations.map(({ jobs, commands }) => ({
    jobs: jobs.filter(({ doUpdate }) => !doUpdate || !refused.has(doUpdate.id ?? '')),
    commands: commands.filter(
      ({ updateResponse }) => !updateResponse || !refused.has(updateResponse.protocolInstanceId ?? ''),
    ),
  }));
  const isTraceless = recorded.every(({ jobs, commands }) => jobs.length === 0 && commands.length === 0);
  if (!isTraceless) {
    execution.turns.push({
      at: done.at,
      historyLength: done.historyLength,
      activations: recorded.map(({ jobs, commands }) => ({ jobs: asReplayed(jobs, commands), commands })),
      flags: done.flags,
      ...(done.isJoined ? { isJoined: true } : {}),
    });
    execution.flags.push(...done.flags);
    server.event(
      execution,
      'WorkflowTaskCompleted',
      recorded.flatMap(({ commands }) => commands.map(nameOf)).join(' '),
    );
  }
  if (isTraceless && done.isJoined) execution.turns.at(-1)!.wasLate = true;
  for (const { commands } of done.activations)
    for (const command of commands) if (execution.status === 'RUNNING') carryOut(server, execution, command);
  return !isTraceless;
}

export async function answerQueries(server: Executions, execution: Execution): Promise<void> {
  // It sees everything that had arrived before it: the task first.
  if (execution.task !== 'none' || execution.queries.length === 0) return;
  const worker = workerFor(server, execution);
  if (worker === undefined) {
    server.whenWorkerComes(() => answerQueries(server, execution));
    return;
  }
  const queries = execution.queries.splice(0);
  for (const { name, args, resolve, reject } of queries) {
    const answer = await worker.query(server, execution, name, args);
    server.time.after(server.random.int(1, 5), () => {
      if (answer.ok) resolve(answer.value);
      else reject(new QueryFailed(answer.message));
    });
  }
}

function workerFor(server: Executions, execution: Execution): Worker | undefined {
  const workers = server.pollers(execution.taskQueue, 'workflow');
  if (workers.length === 0) return undefined;
  const { sticky } = execution;
  return workers.find((worker) => worker === sticky) ?? server.random.pick(workers);
}

const asJob = ({ id, name, input }: Update): Job => ({
  doUpdate: {
    id,
    protocolInstanceId: id,
    name,
    input,
    headers: {},
    meta: { updateId: id, identity: 'simulation' },
    runValidator: true,
  },
});

const isEnd = (command: Command): boolean =>
  Boolean(
    command.completeWorkflowExecution ??
      command.failWorkflowExecution ??
      command.cancelWorkflowExecution ??
      command.continueAsNewWorkflowExecution,
  );

function nameOf(command: Command): string {
  const { scheduleActivity, updateResponse } = command;
  if (scheduleActivity) return `activity(${scheduleActivity.activityType})`;
  if (updateResponse) return updateResponse.accepted ? 'accept' : updateResponse.completed ? 'answer' : 'reject';
  return Object.keys(command).find((key) => key !== 'userMetadata') ?? '?';
}
