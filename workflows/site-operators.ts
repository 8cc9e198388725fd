import { lineOf, objectOf } from '../src/core/data/shape.ts';
import { whyNotRetry } from '../src/core/deployment/index.ts';
import { MAX, noteFields } from '../src/core/run/description.ts';
import { isoTime, readRequest } from '../src/core/run/index.ts';
import {
  fitReport,
  membersOf,
  type NodeWrite,
  type PhaseName,
  type RunFailure,
  type RunProgress,
  redeployCommand,
  reportRun,
  type SitePlan,
  type SiteRunInput,
  type SiteRunKind,
  showPlan,
  statusOf,
  treeOf,
} from '../src/core/site-run/index.ts';
import { approvalHandlers } from './approval.ts';
import { handle } from './border.ts';
import { readProgress, type Slices } from './call-slices.ts';
import type { RetryNodeRequest, SiteRunContract } from './contract.ts';
import { failure } from './failures.ts';
import { readNews } from './graph-news.ts';
import { maasSilenceHandler, openedHandler, steeringHandlers } from './operators.ts';
import type { Run } from './run-frame.ts';

/** State of a running site workflow, and the operations of its steps. */
export interface SiteRun extends Run<RunProgress> {
  readonly kind: SiteRunKind;
  readonly input: SiteRunInput;
  readonly slices: Slices;
  /** Retries at operators' requests. Null: they are refused. */
  retries: NodeRetries | null;
  /** Runs one phase; waits while paused. Null when nothing new may start or the run was cancelled during the phase. */
  phase<T>(
    name: PhaseName,
    work: () => Promise<{ value: T; state?: 'success' | 'failed' | 'stopped'; detail?: string }>,
  ): Promise<T | null>;
  skip(name: PhaseName, detail: string): void;
  /** Marks the run as failed. The caller must return afterwards. */
  fail(failure: RunFailure): void;
  loadPlan(): Promise<SitePlan | null>;
  /** Writes nodes to the store in batches and updates the search attribute of failed nodes. */
  record(nodes: readonly NodeWrite[]): Promise<void>;
  /** Writes the nodes that have changed since they were recorded, or never were. */
  recordRest(): Promise<void>;
}

/** Retries of failed nodes at operators' requests, while the baremetal step runs. */
export interface NodeRetries {
  /** Nodes of an aborted call of a group: they are not retried until their work in MAAS is settled. */
  settling: readonly number[];
  /** Starts the retry of a node immediately if possible, in parallel with the current call of any group. */
  request(node: string): void;
  /**
   * Starts retries that could not start when requested. Call it between calls.
   *
   * @throws the failure of a retry that ends the run
   */
  take(): void;
  /** Whether a retry of this node, or of any, was requested and has not started. */
  pending(node?: string): boolean;
  /** Whether retries of these nodes, or of any, have started and not ended. */
  underWay(nodes?: readonly number[]): boolean;
  /**
   * Resolves when retries of these nodes, or of all, have ended.
   *
   * @throws the failure of a retry that ends the run
   */
  ended(nodes?: readonly number[]): Promise<void>;
}

export const retryNode = objectOf<RetryNodeRequest>({ ...noteFields, node: lineOf(MAX.name) }, ['node']);

/** Sets the handlers for operators of a site run: signals, updates and queries (docs/design.md#the-temporal-surface). */
export function handleSiteOperators(run: SiteRun): void {
  const { progress, control, slices } = run;
  const status = () => statusOf(progress);
  const steering = steeringHandlers({ control, status, forward: slices.forward });
  const approvals = approvalHandlers(run, { status, rejected: () => slices.forward('stop') });
  handle<SiteRunContract>({
    signals: {
      ...steering.signals,
      ...approvals.signals,
      ...maasSilenceHandler(run.maasSilence),
      call_progress: {
        read: readProgress,
        handle(part) {
          slices.onProgress(part);
          control.wake();
        },
      },
      graph_news: {
        read: readNews,
        handle(news) {
          if (progress.software === undefined || progress.outcome !== undefined) return;
          progress.software = { ...progress.software, ...news };
          run.show();
        },
      },
    },
    updates: {
      opened: openedHandler(run),
      ...steering.updates,
      ...approvals.updates,
      retry_node: {
        description: 'Retries a failed node immediately, during the baremetal step: {"node": "...", "reason": "..."}',
        read: (payload) => readRequest(retryNode, payload),
        validate: ({ node }) => refuseRetry(run, node),
        handle(request) {
          const { node } = request;
          progress.operator.push({ action: 'retry_node', at: isoTime(Date.now()), ...request });
          run.retries?.request(node);
          control.wake();
          run.show();
          return status();
        },
      },
    },
    queries: {
      status: { description: 'Phase, n of m nodes, failing first.', answer: status },
      report: {
        description: 'Report so far: every group and node, with reasons.',
        answer: () => fitReport(reportRun(progress), membersOf(progress)),
      },
      tree: { description: 'Every step and node.', answer: () => treeOf(progress) },
      plan: {
        description: 'Nodes, groups and time limits of this run.',
        answer: () => (progress.plan ? showPlan(progress.plan) : null),
      },
    },
    warn: run.warn,
  });
}

function refuseRetry({ kind, progress, retries }: SiteRun, node: string): void {
  const { baremetal } = progress;
  const refused = (message: string) => failure('RetryRefused', message);
  if (!retries || !baremetal) {
    throw refused(
      `the run is in phase ${statusOf(progress).phase}; nodes can be retried only while the baremetal step runs. ${kind === 'redeploy_nodes' ? `Redeploy the node by itself: ${redeployCommand(progress.input.site, [node])}` : 'Start the run again instead: it continues where it stopped'}`,
    );
  }
  if (retries.pending(node)) throw refused(`a retry of node ${node} is already pending`);
  const why = whyNotRetry(baremetal, node);
  if (why) throw refused(why);
}
