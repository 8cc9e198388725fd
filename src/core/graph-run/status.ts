import type { RunStatus } from '../site-run/index.js';
import type { FailedTask, TaskCounts } from './part-news.js';
import { settledOf, sumCounts, totalOf } from './part-news.js';
import type { GraphProgress, GraphRunOutcome, GraphRunProgress, GraphState } from './progress.js';

/** Answer of the query `status` and of the updates: small enough to ask every second. */
export interface GraphRunStatus {
  readonly cluster: number;
  readonly transaction: number | null;
  /**
   * Type of the graph that is under way and what it does (`default: running`, `default: closing`), or whose turn is next
   * (`default: waiting`); before there is any `starting`, behind the last one `closing`, at the end `finished`.
   */
  readonly phase: string;
  readonly paused: RunStatus['paused'];
  readonly stopping: boolean;
  readonly outcome?: GraphRunOutcome;
  /** Tasks that came to their end, of all tasks planned so far. */
  readonly done: number;
  readonly total: number;
  readonly counts: TaskCounts;
  /** Failing first: at most twenty, with their reasons; `counts.failed` is how many there are. */
  readonly failed: readonly FailedTask[];
  readonly failing_nodes: number;
  /** `task@node` of what runs now, at most twenty. */
  readonly running: readonly string[];
  /** Nodes whose agents do not answer and for which a task waits. */
  readonly silent: readonly string[];
  readonly graphs: readonly GraphStatus[];
}

export interface GraphStatus {
  readonly type: string;
  readonly transaction: number;
  readonly state: GraphState;
  readonly done: number;
  readonly total: number;
  readonly counts: TaskCounts;
  readonly nodes: number;
  readonly failing_nodes: number;
  readonly parts: number;
  readonly offline: readonly string[];
  readonly started_at?: string;
  readonly ended_at?: string;
  readonly reason?: string;
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

export function statusOfGraph(graph: GraphProgress): GraphStatus {
  const news = graph.news();
  const counts = sumCounts(news.map((part) => part.counts));
  return {
    type: graph.type,
    transaction: graph.transaction,
    state: graph.state,
    done: settledOf(counts),
    total: graph.plan?.tasks ?? totalOf(counts),
    counts,
    nodes: graph.plan?.nodes ?? 0,
    failing_nodes: news.reduce((sum, part) => sum + part.failing_nodes, 0),
    parts: graph.plan?.parts.length ?? 0,
    offline: graph.offline.slice(0, 50),
    ...(graph.started_at === undefined ? {} : { started_at: iso(graph.started_at) }),
    ...(graph.ended_at === undefined ? {} : { ended_at: iso(graph.ended_at) }),
    ...(graph.reason === undefined ? {} : { reason: graph.reason }),
  };
}

export function statusOfGraphRun(progress: GraphRunProgress): GraphRunStatus {
  const graphs = progress.graphs.map(statusOfGraph);
  const news = progress.graphs.flatMap((graph) => graph.news());
  return {
    cluster: progress.input.cluster,
    transaction: progress.transaction,
    phase: phaseOf(progress),
    paused: progress.paused,
    stopping: progress.stopping,
    ...(progress.outcome ? { outcome: progress.outcome } : {}),
    done: graphs.reduce((sum, graph) => sum + graph.done, 0),
    total: graphs.reduce((sum, graph) => sum + graph.total, 0),
    counts: sumCounts(graphs.map((graph) => graph.counts)),
    failed: news.flatMap((part) => part.failed).slice(0, 20),
    failing_nodes: graphs.reduce((sum, graph) => sum + graph.failing_nodes, 0),
    running: news.flatMap((part) => part.running).slice(0, 20),
    silent: news.flatMap((part) => part.silent).slice(0, 20),
    graphs,
  };
}

function phaseOf({ outcome, graphs }: GraphRunProgress): string {
  if (outcome !== undefined) return 'finished';
  if (graphs.length === 0) return 'starting';
  const open = graphs.find((graph) => OPEN.includes(graph.state));
  if (open !== undefined) return `${open.type}: ${open.state.replace('_', ' ')}`;
  const closing = graphs.find((graph) => graph.closing === true);
  if (closing !== undefined) return `${closing.type}: closing`;
  const next = graphs.find((graph) => graph.state === 'waiting');
  return next === undefined ? 'closing' : `${next.type}: waiting`;
}

const OPEN: readonly GraphState[] = ['planning', 'asking_nodes', 'running', 'held'];

/** A short Markdown table for Temporal's "current details": phase, n/m, failing first. */
export function detailsOfGraphRun(progress: GraphRunProgress): string {
  const status = statusOfGraphRun(progress);
  const held = status.paused ? ' · **paused**' : status.stopping ? ' · **stopping**' : '';
  const lines = [`**${status.outcome ?? status.phase}** · ${status.done} of ${status.total} tasks${held}`, ''];
  if (status.failed.length > 0) {
    lines.push('| failed task | node | attempts | reason |', '| --- | --- | --- | --- |');
    for (const { task, node, attempts, reason } of status.failed.slice(0, 10)) {
      lines.push(`| ${cell(task)} | ${cell(node)} | ${attempts} | ${cell(reason)} |`);
    }
    lines.push('');
  }
  if (status.silent.length > 0) lines.push(`Silent nodes: ${cell(status.silent.join(', '))}`, '');
  if (status.graphs.length > 0) {
    lines.push('| graph | state | tasks | failing nodes |', '| --- | --- | --- | --- |');
    for (const graph of status.graphs.slice(0, 20)) {
      lines.push(
        `| ${cell(graph.type)} | ${cell(graph.state)} | ${graph.done} of ${graph.total} | ${graph.failing_nodes} |`,
      );
    }
  }
  return lines.join('\n');
}

const cell = (text: string): string => text.replace(/[|\n\r]+/g, ' ').slice(0, 120);
