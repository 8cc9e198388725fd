import type { WorkflowExecutionInfo, WorkflowHandle } from '@temporalio/client';
import { ACTIVITIES, prefixed, WORKFLOWS } from '../../workflows/protocol.ts';
import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import { SITE_RUN_KINDS } from '../core/words.ts';
import { metadataClient, OPEN } from '../platform/temporal/metadata-client.ts';
import { closedOutcome, findExecution, isOpenStatus } from '../runs/find-execution.ts';
import type { RunFilter, RunRecord } from '../store/index.ts';
import type { TemporalAccess } from './dependencies.ts';

/** Open runs that are listed or just started, and no more. */
const MAX = 50;
const MOST_STARTED = 1_000;
const KINDS: readonly string[] = [...SITE_RUN_KINDS, WORKFLOWS.execute_graph];

/** The id of a run on a site; Temporal adds the time where a schedule started it. */
const SITE_WORKFLOW = /^(?:[a-z0-9-]+:)?[a-z]+(?:_[a-z]+)+:(.+?)(?:-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$/;

/** That of a run of graphs. */
const GRAPH_WORKFLOW = /^(?:[a-z0-9-]+:)?execute_graph:([1-9]\d*):/;

/** Others may use the namespace, too: an installation's queues have its prefix, or none. */
const PREFIX = /^([a-z0-9][a-z0-9-]*):/;

type Raw = Awaited<ReturnType<WorkflowHandle['describe']>>['raw'];

/** Start, and a first workflow task that no worker has completed. */
const EVENTS_UNOPENED = 4;

const OPENING: readonly string[] = [ACTIVITIES.open_run, ACTIVITIES.open_graph_run];

/** Else it is closing, refused. */
const isUnopened = ({ workflowExecutionInfo, pendingActivities }: Raw): boolean =>
  Number(workflowExecutionInfo?.historyLength) <= EVENTS_UNOPENED ||
  (pendingActivities ?? []).some(({ activityType }) => OPENING.includes(activityType?.name ?? ''));

/** A run that no worker has opened yet. */
export const asWaiting = (run: RunRecord): RunRecord => (run.outcome === null ? { ...run, phase: 'waiting' } : run);

/** Runs that no worker has opened yet, which the store does not know: by what Temporal shows of their workflows. */
export function waitingRuns({ client, taskQueue, prefix }: Pick<TemporalAccess, 'client' | 'taskQueue' | 'prefix'>) {
  const executions = () => metadataClient(client);
  const own = prefix === undefined ? '' : ` AND TaskQueue STARTS_WITH '${prefixed(prefix, '')}'`;
  const isOurs = (queue: string): boolean => queue === taskQueue || PREFIX.exec(queue)?.[1] === prefix;
  /** Workflow ids of runs that were just started, by run id: Temporal's lists know a run some seconds after its start. */
  const started = new Map<string, string>();

  const describe = (workflowId: string, runId: string) => executions().getHandle(workflowId, runId).describe();

  /** The run with this first execution, as it is now. */
  async function asItIs(workflowId: string, runId: string): Promise<RunRecord | undefined> {
    const now = await findExecution(client, workflowId, runId);
    const described = now && (await describe(workflowId, now.runId));
    return described && KINDS.includes(described.type) ? { ...recordOf(described), id: runId } : undefined;
  }

  return {
    /** @param id the run id of the run's first execution */
    async find(id: string): Promise<RunRecord | undefined> {
      if (!/^[\w-]+$/.test(id)) return undefined;
      const justStarted = started.get(id);
      if (justStarted !== undefined) return asItIs(justStarted, id);
      for await (const { workflowId, runId, taskQueue } of executions().list({ query: `RunId = '${id}'${own}` })) {
        const found = isOurs(taskQueue) ? await asItIs(workflowId, runId) : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    },
    /** A run that this process has just started; it is found from now on. */
    async started(workflowId: string, runId: string): Promise<RunRecord> {
      const run = recordOf(await describe(workflowId, runId));
      started.set(runId, workflowId);
      for (const oldest of started.keys()) if (started.size > MOST_STARTED) started.delete(oldest);
      return run;
    },
    /** @param stored which of these ids the store has */
    async list(
      filter: RunFilter,
      stored: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
    ): Promise<readonly RunRecord[]> {
      // A run on another queue waits for workers of others.
      const query = `WorkflowType IN ('${KINDS.join("', '")}') AND TaskQueue = '${taskQueue}' AND ${OPEN}`;
      const open: RunRecord[] = [];
      for await (const info of executions().list({ query })) if (open.push(recordOf(info)) >= MAX) break;
      const known = await stored(open.map(({ id }) => id));
      const unknown = open.filter(({ id }) => !known.has(id));
      const described = await Promise.all(unknown.map(async (run) => (await describe(run.workflowId, run.id)).raw));
      // A reset has another id than its run.
      const first = described.map((raw, at) => raw.workflowExecutionInfo?.firstRunId || unknown[at]!.id);
      const knownByFirst = await stored(first);
      return unknown
        .filter((_run, at) => !knownByFirst.has(first[at]!) && isUnopened(described[at]!))
        .map(asWaiting)
        .filter((run) => fits(run, filter));
    },
  };
}

/** What no run has before it is opened. */
const NOTHING_YET = {
  ...{ number: null, sequence: 0, revision: null, parameters: {}, plan: null, status: null, statusAt: null },
  ...{ paused: false, held: false, awaitingApproval: false, failure: null },
  ...{ failedNodes: null, failedTasks: null, done: null, total: null },
};

function recordOf(info: Omit<WorkflowExecutionInfo, 'raw'>): RunRecord {
  const { workflowId, runId, type, status, typedSearchAttributes, memo = {}, startTime, closeTime } = info;
  const attribute = (name: string): string | null =>
    textOf(typedSearchAttributes.getAll().find(({ key }) => key.name === name)?.value);
  const isOpen = isOpenStatus(status.name);
  const phase = attribute('RunPhase');
  // Its label is added when a worker opens it.
  const [, cluster] = type === WORKFLOWS.execute_graph ? (GRAPH_WORKFLOW.exec(workflowId) ?? []) : [];
  const [, site = null] = type === WORKFLOWS.execute_graph ? [] : (SITE_WORKFLOW.exec(workflowId) ?? []);
  return {
    ...NOTHING_YET,
    id: runId,
    workflowId,
    temporalRunId: runId,
    kind: type,
    site: attribute('SiteName') ?? site,
    title: textOf(memo.title),
    labels: { ...textsOf(isMapping(memo.labels) ? memo.labels : {}), ...given({ cluster }) },
    phase: isOpen ? (phase ?? 'starting') : 'finished',
    outcome: isOpen ? null : closedOutcome(status.name, { outcome: phase }),
    startedBy: attribute('StartedBy') ?? textOf(memo.started_by),
    reason: textOf(memo.reason),
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const textsOf = (labels: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));

/** Whether a waiting run is one of those that a list is asked for. */
function fits(run: RunRecord, filter: RunFilter): boolean {
  const { site, number, kind, phase, workflowId, labels = [], startedBy, since, until, text = '' } = filter;
  const is = (value: string | null, wanted: string | readonly string[] | undefined): boolean =>
    wanted === undefined || (value !== null && [wanted].flat().includes(value));
  const startedAt = Date.parse(run.startedAt);
  const words = [run.id, run.workflowId, run.kind, run.title, run.startedBy, run.reason].join(' ').toLowerCase();
  return (
    number === undefined &&
    is(run.site, site) &&
    is(run.kind, kind) &&
    is(run.phase, phase) &&
    is(run.workflowId, workflowId) &&
    is(run.startedBy, startedBy) &&
    words.includes(text.toLowerCase()) &&
    labels.every(([name, value]) => run.labels[name] === value) &&
    (since === undefined || startedAt >= Date.parse(since)) &&
    (until === undefined || startedAt < Date.parse(until))
  );
}
