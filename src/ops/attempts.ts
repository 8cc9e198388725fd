import { isGrpcServiceError } from '@temporalio/client';
import { taskActivityId } from '../../workflows/protocol.ts';
import { graphRunOf } from '../core/run/subject.ts';
import { type TaskOnNode, taskText } from '../core/task-on-node.ts';
import { findExecution } from '../runs/find-execution.ts';
import type { TemporalAccess } from './dependencies.ts';
import { nodeInRun, taskInRun } from './named-in-run.ts';
import { problem } from './problem.ts';
import { Service } from './service.ts';
import { temporalAddress } from './temporal-address.ts';
import { callTemporal } from './temporal-calls.ts';

const NOT_FOUND = 5;
/** So many are read for one attempt: about as many as the longest history has. Servers send at most 256 batches of events each. */
const PAGES = 100;
const PAGE_SIZE = 256;
/** Reading that many pages takes longer than a question. */
const LIMIT_MS = 20_000;

/** An attempt at a node of a site, or at a task on a node. */
interface AttemptOf {
  readonly node: string;
  readonly task?: string;
  /** Of the task. Default: the newest. */
  readonly attempt?: number;
}

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

/** What runs try, as Temporal's own page shows it. */
export class AttemptOperations extends Service {
  /**
   * The address of the event with which an attempt began. Where that is not in the part of the histories that is read, of the
   * history of its run.
   * @throws `not-found` without a page of Temporal's, or for a run that it no longer has
   */
  async addressOf(id: string, { node, task, attempt }: AttemptOf): Promise<string> {
    const { temporal, store } = this;
    const run = await store.runs.get(id);
    const isIt =
      task === undefined
        ? isOfNode(await nodeInRun(store, run, node))
        : isOfTask(await taskInRun(store, graphRunOf(run), { task, node }), attempt);
    const execution = await callTemporal(temporal, () =>
      findExecution(temporal.client, run.workflowId, run.temporalRunId),
    );
    if (execution === null)
      throw problem('not-found', `Temporal no longer has a record of run ${id}`, {
        hint: `Its nodes and tasks are kept: sitewright run report ${id}`,
      });
    const own = { workflowId: run.workflowId, runId: execution.runId };
    const found = await callTemporal(temporal, () => scheduledIn(temporal, own, isIt), LIMIT_MS);
    const { workflowId, runId } = found ?? own;
    const event = found === undefined ? [] : ['events', found.eventId];
    const address = temporalAddress(this.deps, 'workflows', workflowId, runId, 'history', ...event);
    if (address !== null) return address;
    throw problem('not-found', "the address of Temporal's Web UI is not known", {
      hint: 'Set temporal.ui_url, then restart the API.',
    });
  }
}

/** Where the newest of the activities was scheduled: in the history of a run, or of one of its parts. Each is read from its end. */
export async function scheduledIn(
  { connection, namespace }: Pick<TemporalAccess, 'connection' | 'namespace'>,
  run: Execution,
  isIt: (activityId: string) => boolean,
): Promise<(Execution & { readonly eventId: string }) | undefined> {
  const executions = [run];
  let pages = 0;
  // Those that a history names are read after it.
  for (const execution of executions) {
    let nextPageToken: Uint8Array | null | undefined;
    do {
      if (pages++ >= PAGES) return undefined;
      const request = { namespace, execution, maximumPageSize: PAGE_SIZE, ...(nextPageToken && { nextPageToken }) };
      const page = await connection.workflowService.getWorkflowExecutionHistoryReverse(request).catch(nothingIfGone);
      for (const event of page.history?.events ?? []) {
        if (isIt(event.activityTaskScheduledEventAttributes?.activityId ?? ''))
          return { ...execution, eventId: String(event.eventId) };
        const child = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
        if (child) executions.push({ workflowId: child.workflowId ?? '', runId: child.runId ?? '' });
        const runId = event.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
        if (runId) executions.push({ workflowId: execution.workflowId, runId });
      }
      nextPageToken = page.nextPageToken;
    } while (nextPageToken?.length);
  }
  return undefined;
}

const VERBS = ['prepare', 'deploy', 'release'];

/** `deploy:control:n1`, or `deploy:control:n1:2`. Names of groups may have colons, too. */
export function isOfNode(node: string, verbs: readonly string[] = VERBS): (activityId: string) => boolean {
  const name = `:${node}`;
  return (id) => {
    const at = id.lastIndexOf(name);
    // Between the two is a group.
    const isCalled = verbs.some((verb) => id.startsWith(`${verb}:`) && at > verb.length);
    return isCalled && /^(?::\d+)?$/.test(id.slice(at + name.length));
  };
}

/** `mysql@7`, `mysql@7:2` for the second attempt, `mysql@7/2` where it was sent again, `reboot@7/power` where MAAS does it instead. */
export function isOfTask(of: TaskOnNode, attempt: number | undefined): (activityId: string) => boolean {
  const base = attempt === undefined ? taskText(of) : taskActivityId(of.task, of.node, attempt);
  const rest = attempt === undefined ? /^(?::\d+)?(?:\/(?:\d+|power))?$/ : /^(?:\/(?:\d+|power))?$/;
  return (id) => id.startsWith(base) && rest.test(id.slice(base.length));
}

type HistoryPage = Awaited<
  ReturnType<TemporalAccess['connection']['workflowService']['getWorkflowExecutionHistoryReverse']>
>;

/** A part may be forgotten before its run. */
function nothingIfGone(error: unknown): Partial<HistoryPage> {
  if (isGrpcServiceError(error) && error.code === NOT_FOUND) return {};
  throw error;
}
