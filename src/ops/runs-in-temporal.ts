import type { WorkflowExecutionInfo, WorkflowHandle } from '@temporalio/client';
import { ACTIVITIES, prefixed, WORKFLOWS } from '../../workflows/protocol.ts';
import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import { SITE_RUN_KINDS } from '../core/words.ts';
import { metadataClient, OPEN } from '../platform/temporal/metadata-client.ts';
import { closedOutcome, findExecution, isOpenStatus } from '../runs/find-execution.ts';
import type { Page, RunFilter, RunRecord } from '../store/index.ts';
import type { TemporalAccess } from './dependencies.ts';

/** Runs as Temporal alone knows them, without numbers of nodes, revisions and inputs: for use while the store is unreachable. */
interface RunsInTemporal {
  /** @param id the run id of the run's first execution */
  find(id: string): Promise<RunRecord | undefined>;
  /** A run that this process has just started; it is found from now on. */
  started(workflowId: string, runId: string): Promise<RunRecord>;
  /** Running ones first, then the newest. Undefined for a further page. */
  list(filter: RunFilter): Promise<Page<RunRecord> | undefined>;
  /**
   * Open runs that no worker has opened yet: the store does not know them.
   *
   * @param stored which of these ids the store has
   */
  waiting(
    filter: RunFilter,
    stored: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<readonly RunRecord[]>;
}

/** Executions looked at for a list. */
const MAX = 1_000;
const USUAL_LIMIT = 50;
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

export function runsInTemporal({
  client,
  taskQueue,
  prefix,
}: Pick<TemporalAccess, 'client' | 'taskQueue' | 'prefix'>): RunsInTemporal {
  const executions = () => metadataClient(client);
  const types = `WorkflowType IN (${KINDS.map((kind) => `'${kind}'`).join(', ')})`;
  const own = prefix === undefined ? '' : ` AND TaskQueue STARTS_WITH '${prefixed(prefix, '')}'`;
  const isOurs = (queue: string): boolean => queue === taskQueue || PREFIX.exec(queue)?.[1] === prefix;
  /** Workflow ids of runs that were just started, by run id: Temporal's lists know a run some seconds after its start. */
  const started = new Map<string, string>();

  /** The run with this first execution, as it is now. */
  async function asItIs(workflowId: string, runId: string, id: string): Promise<RunRecord | undefined> {
    const now = await findExecution(client, workflowId, runId);
    const described = now && (await executions().getHandle(workflowId, now.runId).describe());
    return described && KINDS.includes(described.type) ? { ...recordOf(described), id } : undefined;
  }

  return {
    async find(id) {
      if (!/^[\w-]+$/.test(id)) return undefined;
      const justStarted = started.get(id);
      if (justStarted !== undefined) return asItIs(justStarted, id, id);
      for await (const { workflowId, runId, taskQueue: queue } of executions().list({
        query: `RunId = '${id}'${own}`,
      })) {
        if (!isOurs(queue)) continue;
        const found = await asItIs(workflowId, runId, id);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async started(workflowId, runId) {
      const run = recordOf(await executions().getHandle(workflowId, runId).describe());
      started.set(runId, workflowId);
      for (const oldest of started.keys()) if (started.size > MOST_STARTED) started.delete(oldest);
      return run;
    },
    async list({ before, limit = USUAL_LIMIT, ...filter }) {
      if (before !== undefined) return undefined;
      return { items: await found(types + own, filter, limit), next: null };
    },
    async waiting(filter, stored) {
      // A run on another queue waits for workers of others.
      const open = await found(`${types} AND TaskQueue = '${taskQueue}' AND ${OPEN}`, {}, USUAL_LIMIT);
      const known = await stored(open.map(({ id }) => id));
      const unknown = open.filter(({ id }) => !known.has(id));
      const described = await Promise.all(unknown.map((run) => describe(run)));
      // A reset has another id than its run.
      const first = described.map((raw, at) => raw.workflowExecutionInfo?.firstRunId || unknown[at]!.id);
      const knownByFirst = await stored(first);
      return unknown
        .filter((_run, at) => !knownByFirst.has(first[at]!) && isUnopened(described[at]!))
        .map(asWaiting)
        .filter((run) => fits(run, filter));
    },
  };

  async function describe({ workflowId, id }: RunRecord): Promise<Raw> {
    return (await executions().getHandle(workflowId, id).describe()).raw;
  }

  async function found(query: string, filter: RunFilter, limit: number): Promise<RunRecord[]> {
    const items: RunRecord[] = [];
    let seen = 0;
    for await (const info of executions().list({ query })) {
      const run = recordOf(info);
      if (isOurs(info.taskQueue) && fits(run, filter)) items.push(run);
      seen += 1;
      if (items.length >= limit || seen >= MAX) break;
    }
    return items;
  }
}

function recordOf(info: Omit<WorkflowExecutionInfo, 'raw'>): RunRecord {
  const { workflowId, runId, type, status, typedSearchAttributes, memo = {}, startTime, closeTime } = info;
  const attributes = typedSearchAttributes.getAll();
  const attribute = (name: string): string | null => {
    const value = attributes.find(({ key }) => key.name === name)?.value;
    return typeof value === 'string' ? value : null;
  };
  const isOpen = isOpenStatus(status.name);
  const phase = attribute('RunPhase');
  // Its label is added when a worker opens it.
  const [, cluster] = type === WORKFLOWS.execute_graph ? (GRAPH_WORKFLOW.exec(workflowId) ?? []) : [];
  const [, site = null] = type === WORKFLOWS.execute_graph ? [] : (SITE_WORKFLOW.exec(workflowId) ?? []);
  return {
    id: runId,
    number: typeof memo.number === 'number' ? memo.number : null,
    sequence: 0,
    workflowId,
    temporalRunId: runId,
    kind: type,
    site: attribute('SiteName') ?? site,
    revision: null,
    title: textOf(memo.title),
    labels: { ...textsOf(isMapping(memo.labels) ? memo.labels : {}), ...given({ cluster }) },
    parameters: {},
    phase: isOpen ? (phase ?? 'starting') : 'finished',
    paused: phase === 'paused',
    held: false,
    awaitingApproval: false,
    outcome: isOpen ? null : closedOutcome(status.name, { outcome: phase }),
    startedBy: attribute('StartedBy') ?? textOf(memo.started_by),
    reason: textOf(memo.reason),
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
    failedNodes: null,
    failedTasks: null,
    done: null,
    total: null,
    failure: null,
    status: null,
    statusAt: null,
    plan: null,
  };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const textsOf = (labels: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));

function fits(run: RunRecord, filter: Omit<RunFilter, 'before' | 'limit'>): boolean {
  const {
    site,
    number,
    kind,
    phase,
    outcome,
    workflowId,
    labels = [],
    startedBy,
    since,
    until,
    open,
    text = '',
  } = filter;
  const is = (value: string | null, wanted: string | readonly string[] | undefined): boolean =>
    wanted === undefined || (value !== null && [wanted].flat().includes(value));
  const startedAt = Date.parse(run.startedAt);
  return (
    is(run.site, site) &&
    (number === undefined || run.number === number) &&
    is(run.kind, kind) &&
    is(run.phase, phase) &&
    is(run.outcome, outcome) &&
    is(run.workflowId, workflowId) &&
    is(run.startedBy, startedBy) &&
    [run.id, run.workflowId, run.kind, run.title, run.startedBy, run.reason]
      .join(' ')
      .toLowerCase()
      .includes(text.toLowerCase()) &&
    labels.every(([name, value]) => run.labels[name] === value) &&
    (since === undefined || startedAt >= Date.parse(since)) &&
    (until === undefined || startedAt < Date.parse(until)) &&
    (open === undefined || open === (run.outcome === null))
  );
}
