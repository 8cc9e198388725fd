import type { FailedTask, GraphReport, GraphRunReport } from '../contracts/graph-run.ts';
import { given } from '../data/given.ts';
import { type RootCause, taskText } from '../task-on-node.ts';
import type { TaskStatus } from '../words.ts';
import { failedNodes, ownFailuresFirst } from './part-report.ts';
import { failureText, type TaskEnd } from './task-end.ts';

/** The record of a task of a graph that failed, or was blocked by a failure. */
export interface FailureRecord {
  readonly task: string;
  readonly node: string;
  readonly status: TaskStatus;
  readonly attempts: number;
  readonly rootCause: RootCause | null;
  readonly message: string | null;
  readonly summary: unknown;
}

/**
 * The whole report, from its outline and the recorded failures: a run keeps at most a hundred of them. What the outline has is
 * newer than its record.
 *
 * @param recordsOf by transaction of the graph
 */
export function assembleGraphReport(
  report: GraphRunReport,
  recordsOf: ReadonlyMap<number, readonly FailureRecord[]>,
): GraphRunReport {
  const { cut: _, ...rest } = report;
  return { ...rest, graphs: report.graphs.map((graph) => assembled(graph, recordsOf.get(graph.transaction) ?? [])) };
}

function assembled(graph: GraphReport, records: readonly FailureRecord[]): GraphReport {
  const known = new Set(graph.failed_tasks.map(taskText));
  const others = records.filter((record) => record.status === 'failed' && !known.has(taskText(record)));
  const listed = new Set(graph.failed_nodes.map(({ node }) => node));
  const elsewhere = records.filter(({ node }) => !listed.has(node));
  return {
    ...graph,
    failed_tasks: [...graph.failed_tasks, ...others.map(failedTaskOf)],
    failed_nodes: ownFailuresFirst([...graph.failed_nodes, ...failedNodes(elsewhere.map(withCauses))]),
  };
}

const failedTaskOf = ({ task, node, attempts, message, summary }: FailureRecord): FailedTask => {
  const { outcome = 'failed', exit_code } = (summary ?? {}) as Partial<TaskEnd>;
  return {
    task,
    node,
    attempts,
    reason: failureText({ outcome, ...given({ exit_code, message: message ?? undefined }) }),
  };
};

const withCauses = (record: FailureRecord) => ({
  ...record,
  causes: record.rootCause === null ? [] : [record.rootCause],
});
