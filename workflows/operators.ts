import { ApplicationFailure, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { type BaremetalState, whyNotRetry } from '../src/core/deployment/index.js';
import { readNote } from '../src/core/run/index.js';
import {
  fitReport,
  type RunReport,
  type RunStatus,
  reportRun,
  type SitePlan,
  statusOf,
  treeOf,
} from '../src/core/site-run/index.js';
import type { SliceProgress } from './call-slices.js';
import { QUERIES, type RetryNodeRequest, SIGNALS, UPDATES } from './protocol.js';
import type { SiteRun } from './site-run.js';

/** Answers operators: the signals, updates and queries of a run on a site (design §5). */
export function handleOperators(run: SiteRun): void {
  const { progress, control, slices } = run;
  const noted = (name: 'pause' | 'resume' | 'stop') => (note: unknown) => {
    control[name](note);
    slices.forward(name);
  };
  const description = {
    pause: 'Starts nothing new and lets running work end. Payload optional: {"reason": "...", "by": "..."}',
    resume: 'Goes on after a pause.',
    stop: 'Ends gracefully: running work ends, nothing new starts, the report is written.',
  };
  for (const name of ['pause', 'resume', 'stop'] as const) {
    setHandler(defineSignal<[unknown?]>(SIGNALS[name]), noted(name), { description: description[name] });
  }
  setHandler(defineSignal<[SliceProgress]>(SIGNALS.call_progress), (part) => {
    slices.onProgress(part);
    control.wake();
  });
  for (const name of ['pause', 'resume'] as const) {
    setHandler(
      defineUpdate<RunStatus, [unknown?]>(UPDATES[name]),
      (note) => {
        noted(name)(note);
        return statusOf(progress);
      },
      { description: description[name] },
    );
  }
  setHandler(
    defineUpdate<RunStatus, [RetryNodeRequest]>(UPDATES.retry_node),
    (request) => {
      progress.operator.push({
        action: 'retry_node',
        node: request.node,
        at: new Date(Date.now()).toISOString(),
        ...readNote(request),
      });
      run.retries?.push(request.node);
      control.wake();
      run.show();
      return statusOf(progress);
    },
    {
      description: 'Takes a failed node up again while the baremetal step runs: {"node": "...", "reason": "..."}',
      validator: (request) => refuseRetry(run, request),
    },
  );
  setHandler(defineQuery<RunStatus>(QUERIES.status), () => statusOf(progress), {
    description: 'Phase, n of m nodes, failing first.',
  });
  setHandler(defineQuery<RunReport>(QUERIES.report), () => fitReport(reportRun(progress)), {
    description: 'What happened so far to every group and node, and why.',
  });
  setHandler(defineQuery(QUERIES.tree), () => treeOf(progress), { description: 'Every step and node.' });
  setHandler(defineQuery<SitePlan | null>(QUERIES.plan), () => progress.plan ?? null, {
    description: 'Nodes, groups and time limits of this run.',
  });
}

function refuseRetry({ progress, retries }: SiteRun, request: unknown): void {
  const node = typeof request === 'object' && request !== null ? (request as { node?: unknown }).node : undefined;
  const refuse = (message: string): never => {
    throw ApplicationFailure.nonRetryable(message, 'RetryRefused');
  };
  if (typeof node !== 'string' || node === '') refuse('the payload needs the name of a node: {"node": "..."}');
  const phase = statusOf(progress).phase;
  if (!retries || !progress.baremetal) {
    refuse(
      `the run is in phase ${phase}; nodes can be retried while the baremetal step runs. Start the run again instead: it goes on where it stood`,
    );
  }
  if (retries?.includes(node as string)) refuse(`node ${node as string} is going to be retried already`);
  const why = whyNotRetry(progress.baremetal as BaremetalState, node as string);
  if (why) refuse(why);
}
