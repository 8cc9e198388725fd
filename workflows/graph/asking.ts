import type { SearchAttributePair } from '@temporalio/common';
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { AskingGraph, CloseGraph } from '../../activities/graph-contract.ts';
import type { PartReport } from '../../src/core/graph-run/part-report.ts';
import { doneOf, NO_TASKS } from '../../src/core/graph-run/task-counts.ts';
import type { TaskRun } from '../contract.ts';
import { bookkeeping, inquiry } from '../run/activity-options.ts';
import { callActivity, startChildOf } from '../run/border.ts';
import { type Asking, whyNotEnded } from '../site/wave-checks.ts';

interface AskingOptions {
  readonly transaction: number;
  readonly tasks: Pick<TaskRun, 'execution' | 'debug' | 'patience'>;
  /** Search attributes of children. */
  readonly attributes: readonly SearchAttributePair[];
}

/**
 * Nodes ask checks in graphs of the run itself, which has their cluster. Each is in a workflow of its own: the history of the run has no room
 * for more than its own tasks.
 */
export const askInGraphs =
  (
    { of: { site, revision }, heartbeat_seconds, nameOf }: Omit<Asking, 'askInRun'>,
    options: AskingOptions,
  ): Asking['askInRun'] =>
  async (names, nodes, turn) => {
    const checks = { site, revision, names, nodes: nodes.map(nameOf) };
    const request = { transaction: options.transaction, turn, checks };
    const opened = await callActivity('open_checks', request, inquiry(`plan ${checksText(names)}`, heartbeat_seconds));
    if (!opened.ok) return { why: opened.why };
    const whys: (string | undefined)[] = [];
    for (const graph of opened.graphs) whys.push(await askIn(graph, checksText(names), options));
    const { workflowId } = workflowInfo();
    const graphs = opened.graphs.map(({ transaction }) => transaction);
    const why = whys.find((one) => one !== undefined);
    return { ran: { workflow_id: workflowId, run_id: options.tasks.execution, graphs }, why };
  };

const checksText = (names: readonly string[]): string => `checks ${names.join(', ')}`;

/** @returns why it has not ended by itself */
async function askIn(
  { transaction: graph, plan }: AskingGraph,
  summary: string,
  { transaction, tasks, attributes }: AskingOptions,
): Promise<string | undefined> {
  const [part] = plan.parts;
  const { execution, debug, patience } = tasks;
  let report: PartReport | undefined;
  let isAsked = part === undefined;
  try {
    if (part === undefined) return undefined;
    const child = await startChildOf('run_graph_part', {
      id: `${workflowInfo().workflowId}/${graph}.1`,
      input: {
        // No limits: who only asks needs no permits.
        ...{ execution, debug, patience, mode: 'apply', output: true, graph, plan: plan.hash },
        ...{ transaction, part: 0, chunks: part.chunks, dry_run: false, alone: true },
      },
      summary,
      attributes,
      isPart: true,
    });
    const result = child.result().then((ended) => (report = ended));
    const why = await whyNotEnded(result);
    isAsked = why === undefined;
    return why;
  } finally {
    const closing = {
      ...{ transaction, graph, outcome: isAsked ? 'success' : 'stopped', nodes: {} },
      done: doneOf(report?.counts ?? NO_TASKS),
    } satisfies CloseGraph;
    await CancellationScope.nonCancellable(() => callActivity('close_graph', closing, bookkeeping(`end ${summary}`)));
  }
}
