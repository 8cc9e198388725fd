import {
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  type Workflow,
} from '@temporalio/workflow';
import type { GraphRunInput } from '../src/core/graph-run/index.js';
import type { SitePlan } from '../src/core/site-run/index.js';
import type { GraphRunResult } from './execute-graph.js';
import { graphWorkflowId, SIGNALS, WORKFLOWS } from './protocol.js';
import type { SiteRun } from './site-run.js';

/** The last phase of a site: the graph `default` of its cluster, as a child that an operator also finds by itself. */
export async function runSoftware(run: SiteRun, plan: SitePlan): Promise<void> {
  const { cluster } = plan;
  if (cluster === undefined) {
    run.skip('software', 'no cluster is linked to this site');
    return;
  }
  const { input, progress } = run;
  const workflowId = graphWorkflowId(cluster, progress.run_id);
  await run.phase('software', async () => {
    const wish: GraphRunInput = {
      cluster,
      graphs: [{ type: 'default' }],
      ...(input.started_by === undefined ? {} : { started_by: input.started_by }),
      ...(input.reason === undefined ? {} : { reason: input.reason }),
    };
    try {
      let child: ChildWorkflowHandle<Workflow> | null = null;
      const result = run.control.interruptible(async () => {
        child = await startChild(WORKFLOWS.execute_graph, {
          workflowId,
          args: [wish],
          cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
          staticSummary: `graph default of cluster ${cluster}`,
        });
        run.control.wake();
        return (await child.result()) as GraphRunResult;
      });
      const { outcome } = await follow(run, result, () => child);
      const state = outcome === 'success' ? ('success' as const) : ('stopped' as const);
      return { value: null, state, detail: `${workflowId}: ${outcome}` };
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ChildWorkflowFailure)) throw error;
      const message = error.cause?.message ?? error.message;
      run.fail({ kind: 'software-failed', cluster, workflow_id: workflowId, message });
      return { value: null, state: 'failure', detail: message };
    }
  });
}

/** Passes on to the child what operators want of the site's run, until it has ended. */
async function follow(
  { control }: SiteRun,
  result: Promise<GraphRunResult>,
  child: () => ChildWorkflowHandle<Workflow> | null,
): Promise<GraphRunResult> {
  let ended = false;
  const done = (): void => {
    ended = true;
    control.wake();
  };
  // A failure is the caller's, who awaits the result itself.
  void result.then(done, done);
  const told = { paused: false, stopping: false };
  const tell = (signal: string): void => {
    // A child that has ended meanwhile needs no signal.
    void child()!
      .signal(signal)
      .catch(() => undefined);
  };
  while (!ended) {
    if (child() !== null) {
      const paused = control.paused !== null;
      if (paused !== told.paused) tell(paused ? SIGNALS.pause : SIGNALS.resume);
      if (control.stopping && !told.stopping) tell(SIGNALS.stop);
      told.paused = paused;
      told.stopping = control.stopping;
    }
    await control.changed();
  }
  return result;
}
