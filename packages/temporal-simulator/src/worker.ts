import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import { CHILD_CANCELLATION, cancelledChild, type Execution } from './execution.ts';
import { givenAgain, sortJobs, staysJoined, type Turn } from './history.ts';
import {
  type ActivityEnd,
  type ActivityTask,
  type Command,
  fromPayload,
  type Instance,
  type Job,
  type Payload,
  type RunningActivity,
  runActivity,
  type SinkCall,
  shapeOf,
  TaskFailure,
  textOf,
  type WorkflowCode,
} from './sdk.ts';
import type { Host, VirtualTime } from './virtual-time.ts';

export type AnyActivity = (argument: never) => Promise<unknown>;

export interface WorkerOptions {
  readonly host: Host;
  readonly time: VirtualTime;
  readonly code?: WorkflowCode;
  /** Queues of workflows. */
  readonly workflowQueues?: readonly string[];
  /** By queue. */
  readonly activities: Readonly<Record<string, Readonly<Record<string, AnyActivity>>>>;
  readonly interceptors?: readonly ActivityInterceptorsFactory[];
  /** What workflows tell, but in replays. */
  readonly sinks?: InjectedSinks<Sinks>;
  /** How many activities of a queue it runs at a time. Default: any number. */
  readonly slots?: Readonly<Record<string, number>>;
  /** Delay of one message between worker and server, ms. */
  readonly latency: () => number;
}

interface Listener {
  heartbeat(details: unknown): 'CANCELLED' | 'NOT_FOUND' | null;
  ended(end: ActivityEnd): void;
  /** The worker can take another one. */
  freed(): void;
}

export interface Attempt {
  readonly task: ActivityTask;
}

type Done =
  | ({ readonly ok: true } & Pick<Turn, 'activations' | 'flags' | 'isJoined'>)
  | { readonly ok: false; readonly message: string };

/** What a worker tells its server. */
interface Judge {
  violated(what: string): void;
}

/** What a run sends may name it: another run id is no other decision. */
const sameRun = ({ runId, earlierRuns }: Execution, text: string): string =>
  earlierRuns.reduce((now, earlier) => now.replaceAll(earlier, runId), text);

/** A process that polls queues. It has runs in its memory until it dies. */
export class Worker {
  readonly host: Host;
  readonly #options: WorkerOptions;
  readonly #cache = new Map<string, { readonly instance: Instance; turns: number }>();
  replays = 0;
  readonly running = new Set<RunningActivity>();
  readonly #taken = new Map<string, number>();
  #isLeaving = false;

  constructor(options: WorkerOptions) {
    this.host = options.host;
    this.#options = options;
  }

  polls(queue: string, kind: 'workflow' | 'activity'): boolean {
    if (!this.host.alive || this.#isLeaving || this.host.stalledUntil > this.#options.time.now) return false;
    const { workflowQueues = [], activities, slots = {} } = this.#options;
    if (kind === 'workflow') return workflowQueues.includes(queue);
    return (
      activities[queue] !== undefined && (this.#taken.get(queue) ?? 0) < (slots[queue] ?? Number.POSITIVE_INFINITY)
    );
  }

  /** Whether it is one of its queues, polled now or not. */
  serves(queue: string): boolean {
    const { workflowQueues = [], activities } = this.#options;
    return workflowQueues.includes(queue) || activities[queue] !== undefined;
  }

  kill(): void {
    this.host.alive = false;
    for (const { instance } of this.#cache.values()) void instance.dispose();
    this.#cache.clear();
    this.running.clear();
  }

  /** Asked to end: it polls no more, its activities are cancelled, and others go on with them. */
  shutDown(): void {
    this.#isLeaving = true;
    for (const activity of this.running) activity.cancel('WORKER_SHUTDOWN');
  }

  forget(execution: Execution): void {
    const cached = this.#cache.get(execution.runId);
    this.#cache.delete(execution.runId);
    void cached?.instance.dispose();
  }

  /** The last turn that it carried out is in the history. One that left no trace there is in its memory only. */
  recorded({ runId, turns }: Execution): void {
    const cached = this.#cache.get(runId);
    if (cached?.turns === turns.length - 1) cached.turns++;
  }

  async turn(
    server: Judge,
    execution: Execution,
    { at, jobs, historyLength }: { at: number; jobs: readonly Job[]; historyLength: number },
  ): Promise<Done> {
    try {
      const { instance, again } = await this.#instance(server, execution, at, jobs);
      const activations: { jobs: readonly Job[]; commands: readonly Command[] }[] = [];
      const flags: number[] = [];
      let next = [...jobs];
      do {
        const known = [...execution.flags, ...flags];
        const given = activations.length === 0 && again.length > 0 ? sortJobs([...again, ...next]) : next;
        const answer = await instance.activate({ at, jobs: given, isReplaying: false, historyLength, flags: known });
        await this.#tell(answer.sinkCalls);
        activations.push({ jobs: next, commands: effective(answer.commands) });
        flags.push(...answer.flags.filter((flag) => !known.includes(flag)));
        next = within(answer.commands, execution);
      } while (next.length > 0);
      return { ok: true, activations, flags, ...(again.length > 0 ? { isJoined: true } : {}) };
    } catch (error) {
      if (!(error instanceof TaskFailure)) throw error;
      return { ok: false, message: error.message };
    }
  }

  async query(
    server: Judge,
    execution: Execution,
    name: string,
    args: readonly Payload[],
  ): Promise<{ ok: true; value: unknown } | { ok: false; message: string }> {
    const { instance } = await this.#instance(server, execution, execution.startedAt, []);
    let commands: readonly Command[];
    let sinkCalls: readonly SinkCall[];
    try {
      ({ commands, sinkCalls } = await instance.activate({
        at: this.#options.time.now,
        jobs: [{ queryWorkflow: { queryId: 'legacy_query', queryType: name, arguments: [...args], headers: {} } }],
        isReplaying: false,
        historyLength: execution.events.length,
        flags: execution.flags,
      }));
    } catch (error) {
      // Core drops a run that fails a query.
      this.forget(execution);
      return { ok: false, message: (error as Error).message };
    }
    await this.#tell(sinkCalls);
    const answer = commands.find(({ respondToQuery }) => respondToQuery)?.respondToQuery;
    if (answer?.succeeded) return { ok: true, value: fromPayload(answer.succeeded.response) };
    return { ok: false, message: answer?.failed?.message ?? 'no answer' };
  }

  async #tell(calls: readonly SinkCall[]): Promise<void> {
    for (const { ifaceName, fnName, workflowInfo, args } of calls)
      await this.#options.sinks?.[ifaceName]?.[fnName]?.fn(workflowInfo, ...args);
  }

  /** The run as it is after its turns: from memory, or by replay. `again`: jobs that are left to give together with those that arrived. */
  async #instance(
    server: Judge,
    execution: Execution,
    at: number,
    arrived: readonly Job[],
  ): Promise<{ readonly instance: Instance; readonly again: readonly Job[] }> {
    const { turns, runId } = execution;
    const cached = this.#cache.get(runId);
    if (cached?.turns === turns.length) return { instance: cached.instance, again: [] };
    this.forget(execution);
    const instance = await this.#options.code!.create({ ...execution }, turns[0]?.at ?? at);
    this.#cache.set(runId, { instance, turns: turns.length });
    const again = givenAgain(turns, arrived);
    await this.replay(server, execution, instance, again.length > 0 ? turns.slice(0, -1) : turns);
    return { instance, again };
  }

  /** Repeats turns, and compares each of the commands. */
  async replay(server: Judge, execution: Execution, instance: Instance, turns: readonly Turn[]): Promise<void> {
    if (turns.length > 0) this.replays++;
    const flags = execution.turns.flatMap((turn) => turn.flags);
    // From a turn on that was joined with one before, and is no longer, things have happened at another time than they do now.
    let compared = textOf;
    let held: readonly Job[] = [];
    for (const [number, turn] of turns.entries()) {
      const { at, historyLength, activations, isJoined, wasLate } = turn;
      const next = turns[number + 1];
      if (next !== undefined && staysJoined(next)) {
        held = activations[0]!.jobs;
        continue;
      }
      if ((isJoined && !staysJoined(turn)) || next?.isJoined || wasLate) compared = shapeOf;
      for (const { jobs: own, commands } of activations) {
        const jobs = held.length > 0 ? sortJobs([...held, ...own]) : own;
        held = [];
        const answer = await instance.activate({ at, jobs, isReplaying: true, historyLength, flags });
        const [now, before] = [effective(answer.commands), commands].map((of) => sameRun(execution, compared(of))) as [
          string,
          string,
        ];
        if (now === before) continue;
        const from = Math.max(0, [...now].findIndex((char, index) => char !== before[index]) - 200);
        server.violated(
          `a replay of ${execution.workflowId} decided otherwise at workflow task ${number + 1}:\n  before: …${before.slice(from, from + 600)}\n  now:    …${now.slice(from, from + 600)}`,
        );
        return;
      }
    }
  }

  /** Begins an attempt of an activity. */
  begin(task: ActivityTask, args: readonly unknown[], listener: Listener): Attempt {
    const { time, latency, activities, interceptors = [] } = this.#options;
    const work = activities[task.taskQueue]?.[task.type];
    const { host } = this;
    time.hosts.run(host, () => {
      const later = (what: () => void): void => {
        const run = time.asHost(what);
        time.after(latency(), run);
      };
      const missing = async (): Promise<never> => {
        throw new Error(`Activity function ${task.type} is not registered on this Worker`);
      };
      const running = runActivity(task, work ?? missing, args, interceptors, (details) => {
        later(() => {
          const answer = listener.heartbeat(details);
          if (answer !== null) later(() => running.cancel(answer));
        });
      });
      this.running.add(running);
      this.#taken.set(task.taskQueue, (this.#taken.get(task.taskQueue) ?? 0) + 1);
      void running.end.then((end) => {
        this.running.delete(running);
        this.#taken.set(task.taskQueue, (this.#taken.get(task.taskQueue) ?? 0) - 1);
        later(() => listener.ended(end));
        if (this.#options.slots?.[task.taskQueue] !== undefined) later(() => listener.freed());
      });
    });
    return { task };
  }
}

/** Without those that have no effect: what is cancelled in the turn that ordered it. */
function effective(commands: readonly Command[]): Command[] {
  const ordered = (key: 'scheduleActivity' | 'startTimer' | 'startChildWorkflowExecution'): Set<number> =>
    new Set(commands.flatMap((command) => (command[key] ? [command[key].seq ?? 0] : [])));
  const activities = ordered('scheduleActivity');
  const timers = ordered('startTimer');
  const undoneActivities = new Set(
    commands.flatMap(({ requestCancelActivity: one }) => (one && activities.has(one.seq ?? 0) ? [one.seq ?? 0] : [])),
  );
  const undoneTimers = new Set(
    commands.flatMap(({ cancelTimer: one }) => (one && timers.has(one.seq ?? 0) ? [one.seq ?? 0] : [])),
  );
  return commands.filter((command) => {
    const activity = command.scheduleActivity?.seq ?? command.requestCancelActivity?.seq;
    const timer = command.startTimer?.seq ?? command.cancelTimer?.seq;
    return !(
      (activity !== undefined && activity !== null && undoneActivities.has(activity)) ||
      (timer !== undefined && timer !== null && undoneTimers.has(timer))
    );
  });
}

/** What core tells the workflow within the same task: of cancellations that wait for no one. */
function within(commands: readonly Command[], execution: Execution): Job[] {
  return commands.flatMap(({ requestCancelActivity: cancel, cancelChildWorkflowExecution: child }): Job[] => {
    if (child) return childWithin(child.childWorkflowSeq ?? 0, execution);
    if (!cancel) return [];
    const seq = cancel.seq ?? 0;
    const scheduled = commands.find(({ scheduleActivity }) => scheduleActivity?.seq === seq)?.scheduleActivity;
    const pending = execution.activities.get(seq);
    const isImmediate = scheduled !== undefined || pending?.policy.isTried || pending?.policy.isAbandoned;
    if (!isImmediate) return [];
    const type = scheduled?.activityType ?? pending?.policy.type ?? '';
    const activityId = scheduled?.activityId ?? pending?.policy.activityId ?? '';
    const failure = {
      message: 'Activity cancelled',
      cause: { message: 'Activity cancelled', canceledFailureInfo: {} },
      activityFailureInfo: { activityType: { name: type }, activityId },
    };
    return [{ resolveActivity: { seq, result: { cancelled: { failure } } } }];
  });
}

function childWithin(seq: number, execution: Execution): Job[] {
  const entry = execution.children.get(seq);
  const { abandon, tryCancel } = CHILD_CANCELLATION;
  if (entry === undefined || entry.isResolved || ![abandon, tryCancel].some((one) => one === entry.cancellation))
    return [];
  return [{ resolveChildWorkflowExecution: { seq, result: cancelledChild(entry) } }];
}
