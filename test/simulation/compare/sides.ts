import { randomUUID } from 'node:crypto';
import { NotFound, Random, SimulatedTemporal, Worker, type WorkflowCode } from '@sitewright/temporal-simulator';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { inVirtualTime } from '../../../worker/parts/rehearsals/open-world.ts';
import { act } from './activities.ts';
import type { Program, Request } from './program.ts';

/** What happened to each thing in each run of each workflow, in order; workflow tasks and timers of their own are left out. */
export type Histories = Record<string, readonly Record<string, readonly string[]>[]>;

export interface Seen {
  /** Of the requests, in order. */
  readonly answers: readonly string[];
  readonly histories: Histories;
}

export const QUEUE = 'probe';
/** Long after everything short has happened, and long before anything long does. */
const CALM_MS = 60_000;

const idOf = (root: string, { child }: Request): string => (child === undefined ? root : `${root}/c${child}`);

function keep(run: Record<string, string[]>, thing: string, event: string): void {
  run[thing] ??= [];
  run[thing].push(event);
}

/** Lives through a program with the simulated server. */
export async function simulated(
  seed: number,
  program: Program,
  requests: readonly Request[],
  code: WorkflowCode,
): Promise<Seen> {
  const random = new Random(`compare ${seed}`);
  return inVirtualTime(random, Date.parse('2026-01-01T00:00:00Z'), async (time) => {
    const violations: string[] = [];
    const temporal = new SimulatedTemporal({
      time,
      random: random.fork('temporal'),
      violated: (what) => violations.push(what),
      faults: { turn: () => (random.chance(0.3) ? 'lost-cache' : 'none') },
    });
    const host = { name: 'worker', alive: true, stalledUntil: 0 };
    const worker = time.hosts.run(
      host,
      () =>
        new Worker({
          host,
          time,
          code,
          workflowQueues: [QUEUE],
          activities: { [QUEUE]: { act } as never },
          latency: () => random.int(1, 5),
        }),
    );
    temporal.join(worker);
    const calm = async (): Promise<void> => {
      const until = time.now + CALM_MS;
      let isOver = false;
      time.after(CALM_MS, () => {
        isOver = true;
      });
      while (!isOver && time.now <= until && (await time.step()));
    };
    const root = 'w';
    temporal.start({ type: 'probe', workflowId: root, taskQueue: QUEUE, args: [program] });
    await calm();
    const answers: string[] = [];
    for (const request of requests) {
      let answer = 'done';
      try {
        const execution = temporal.find(idOf(root, request), null);
        if (request.ask === 'reset') {
          const found = execution.turns.flatMap(({ activations: [first] }, turn) =>
            first?.jobs.some(({ signalWorkflow }) => signalWorkflow) ? [turn] : [],
          );
          temporal.reset(execution, found[request.signal] ?? 0, 'asked');
        } else if (execution.status !== 'RUNNING') answer = request.ask === 'query' ? 'done' : 'not found';
        else if (request.ask === 'signal') temporal.signal(execution, request.name, []);
        else if (request.ask === 'cancel') temporal.cancel(execution);
        else if (request.ask === 'terminate') temporal.terminate(execution, 'asked');
        else {
          const asked =
            request.ask === 'query'
              ? temporal.query(execution, 'asked')
              : temporal.update(execution, 'ask', [request.how]);
          void asked.then(
            (value) => {
              answer = `answered ${value}`;
            },
            (error: Error) => {
              answer = `refused: ${error.message}`;
            },
          );
        }
        await calm();
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        answer = 'not found';
      }
      answers.push(answer);
    }
    const histories: Record<string, Record<string, string[]>[]> = {};
    for (const { workflowId, events } of temporal.executions) {
      const run: Record<string, string[]> = {};
      for (const { type, detail } of events) simulatedEvent(run, type, detail);
      histories[workflowId] ??= [];
      histories[workflowId].push(run);
    }
    return { answers: [...answers, ...violations], histories };
  });
}

function simulatedEvent(run: Record<string, string[]>, type: string, detail: string): void {
  if (type.startsWith('WorkflowTask')) return;
  const [kind, about = ''] = type.split(' ');
  const plain = kind!;
  if (plain.startsWith('ActivityTask')) keep(run, `activity ${detail || about}`, plain);
  else if (plain.startsWith('Timer')) keep(run, `timer ${detail}`, plain);
  else if (plain.includes('ChildWorkflowExecution')) keep(run, `child ${local(detail)}`, plain);
  else if (plain === 'WorkflowExecutionSignaled') keep(run, `signal ${detail}`, plain);
  else if (plain.includes('Update')) keep(run, 'updates', plain);
  else if (plain.includes('ExternalWorkflowExecution')) keep(run, `to ${local(detail.split(' ').at(-1)!)}`, plain);
  else keep(run, 'workflow', plain);
}

const local = (workflowId: string): string => workflowId.split('/').at(-1)!;

/** Lives through a program with a real server. */
export async function real(
  program: Program,
  requests: readonly Request[],
  client: Client,
  taskQueue: string,
): Promise<Seen> {
  const root = `w${randomUUID()}`;
  const runs = new Map<string, string[]>();
  const calm = () => untilCalm(client, root, runs);
  await client.workflow.start('probe', { workflowId: root, taskQueue, args: [program] });
  await calm();
  const answers: string[] = [];
  for (const request of requests) {
    const handle = client.workflow.getHandle(idOf(root, request));
    const asked = ask(client, handle, request).catch((error: Error) => {
      const why = (error.cause as Error | undefined)?.message ?? error.message;
      return error.name === 'WorkflowNotFoundError' ? 'not found' : `refused: ${why}`;
    });
    const answer = await asked;
    await calm();
    answers.push(answer);
  }
  const histories: Record<string, Record<string, string[]>[]> = {};
  for (const [workflowId, ids] of runs) {
    histories[workflowId.replace(root, 'w')] = [];
    for (const id of ids) {
      const { events } = await client.workflow.getHandle(workflowId, id).fetchHistory();
      histories[workflowId.replace(root, 'w')]!.push(realRun(events ?? []));
    }
  }
  for (const workflowId of runs.keys())
    await client.workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
  return { answers, histories };
}

async function ask(client: Client, handle: WorkflowHandle, request: Request): Promise<string> {
  switch (request.ask) {
    case 'signal':
      await handle.signal(request.name);
      return 'done';
    case 'cancel':
    case 'terminate':
      if ((await handle.describe()).status.name !== 'RUNNING') return 'not found';
      await handle[request.ask]();
      return 'done';
    case 'query':
      if ((await handle.describe()).status.name !== 'RUNNING') return 'done';
      return `answered ${await handle.query('asked')}`;
    case 'update':
      return `answered ${await handle.executeUpdate('ask', { args: [request.how] })}`;
    case 'reset': {
      const { events } = await handle.fetchHistory();
      const ends = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
      // Each follows a signal, however many arrived with it.
      const after = (events ?? []).flatMap((event) => {
        const next = event.workflowExecutionSignaledEventAttributes
          ? ends.find(({ eventId }) => Number(eventId) > Number(event.eventId))
          : undefined;
        return next === undefined ? [] : [next];
      });
      const points = [...new Set(after)];
      const { runId } = await handle.describe();
      await client.workflowService.resetWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: handle.workflowId, runId },
        reason: 'asked',
        requestId: randomUUID(),
        workflowTaskFinishEventId: (points[request.signal] ?? ends[0])!.eventId!,
      });
      return 'done';
    }
  }
}

const POLL_MS = 150;
/** Looks without a change after which a program is calm: a server may fire timers a second late, however short they are. */
const LOOKS = 9;
const LOOKS_AT_MOST = 400;

/** Waits until nothing moves, and takes up runs that are new. */
async function untilCalm(client: Client, root: string, runs: Map<string, string[]>): Promise<void> {
  let before = '';
  for (let [looks, same] = [0, 0]; same < LOOKS && looks < LOOKS_AT_MOST; looks++) {
    const now: string[] = [];
    const ids = [root, ...Array.from({ length: 12 }, (_, at) => `${root}/c${at + 1}`)];
    let isBusy = false;
    await Promise.all(
      ids.map(async (workflowId) => {
        const found = await client.workflow
          .getHandle(workflowId)
          .describe()
          .catch(() => null);
        if (found === null) return;
        const { raw, runId } = found;
        await follow(client, workflowId, runId, runs);
        isBusy ||= Boolean(raw.pendingWorkflowTask);
        // Scheduled, or to end: all but those that hang.
        isBusy ||= (raw.pendingActivities ?? []).some(({ state }) => state === 1);
        isBusy ||= (raw.pendingChildren ?? []).some(({ runId: id }) => !id);
        now.push(`${workflowId} ${runId} ${raw.workflowExecutionInfo?.historyLength}`);
      }),
    );
    const text = now.sort().join();
    same = text === before && !isBusy ? same + 1 : 0;
    before = text;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Adds a run, and those before it that nothing has seen yet. */
async function follow(client: Client, workflowId: string, runId: string, runs: Map<string, string[]>): Promise<void> {
  const known = runs.get(workflowId) ?? [];
  if (known.includes(runId)) return;
  const missed: string[] = [];
  for (let id = known.at(-1); id !== undefined && id !== runId; ) {
    const { events } = await client.workflow.getHandle(workflowId, id).fetchHistory();
    const next = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    if (!next || next === runId) break;
    missed.push(next);
    id = next;
  }
  if (known.length === 0) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const before = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (before) missed.push(before);
  }
  // Another look may have come first.
  const now = runs.get(workflowId) ?? [];
  runs.set(workflowId, [...now, ...[...missed, runId].filter((id) => !now.includes(id))]);
}

type Event = temporal.api.history.v1.IHistoryEvent;

/** As the simulated server names it. */
function realRun(events: readonly Event[]): Record<string, string[]> {
  const run: Record<string, string[]> = {};
  const activities = new Map<string, string>();
  const timers = new Map<string, string>();
  const targets = new Map<string, string>();
  for (const event of events) {
    const [field = ''] = Object.entries(event).flatMap(([key, value]) =>
      key.endsWith('EventAttributes') && value ? [key] : [],
    );
    const name = field.replace(/EventAttributes$/, '');
    const kind = name.charAt(0).toUpperCase() + name.slice(1);
    const about = (event as Record<string, unknown>)[field] as Record<string, unknown>;
    const id = String(event.eventId);
    if (kind.startsWith('WorkflowTask')) continue;
    if (kind === 'ActivityTaskScheduled') activities.set(id, String(about.activityId));
    if (kind === 'TimerStarted') timers.set(id, String(about.timerId));
    if (kind === 'StartChildWorkflowExecutionInitiated') targets.set(id, String(about.workflowId));
    if (kind.endsWith('ExternalWorkflowExecutionInitiated'))
      targets.set(id, String((about.workflowExecution as { workflowId?: string }).workflowId));
    const initiated = String(about.initiatedEventId ?? id);
    if (kind.startsWith('ActivityTask'))
      keep(run, `activity ${activities.get(String(about.scheduledEventId ?? id))}`, kind);
    else if (kind.startsWith('Timer')) keep(run, `timer ${timers.get(String(about.startedEventId ?? id))}`, kind);
    else if (kind.includes('ChildWorkflowExecution')) keep(run, `child ${local(targets.get(initiated) ?? '')}`, kind);
    else if (kind === 'WorkflowExecutionSignaled') keep(run, `signal ${about.signalName}`, kind);
    else if (kind.includes('Update')) keep(run, 'updates', kind);
    else if (kind.includes('ExternalWorkflowExecution')) keep(run, `to ${local(targets.get(initiated) ?? '')}`, kind);
    else keep(run, 'workflow', kind);
  }
  return run;
}
