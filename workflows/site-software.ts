import { TemporalFailure } from '@temporalio/workflow';
import { given } from '../src/core/data/given.ts';
import { DEFAULT_GRAPHS, type GraphRunInput, NO_TASKS } from '../src/core/graph-run/index.ts';
import type { SitePlan } from '../src/core/site-run/index.ts';
import { type Child, startChildOf } from './border.ts';
import type { GraphRunResult } from './contract.ts';
import { stepError } from './failures.ts';
import { graphWorkflowId, prefixed } from './protocol.ts';
import type { SiteRun } from './site-operators.ts';

/** The last phase of a site: runs the graph `default` of its cluster as a child workflow. */
export async function runSoftware(run: SiteRun, plan: SitePlan): Promise<void> {
  const { cluster } = plan;
  if (cluster === undefined) {
    run.skip('software', 'no cluster is linked to this site');
    return;
  }
  const { input, progress } = run;
  const workflowId = prefixed(run.prefix, graphWorkflowId(cluster, progress.run_id));
  const failed = (message: string) => {
    run.fail({ kind: 'software-failed', cluster, workflow_id: workflowId, message });
    return { value: null, state: 'failed' as const, detail: message };
  };
  await run.phase('software', async () => {
    progress.software = {
      workflow_id: workflowId,
      phase: 'starting',
      ...{ done: 0, total: 0, counts: NO_TASKS, failing_nodes: 0, running: [], silent: [] },
    };
    run.show();
    const graphInput: GraphRunInput = {
      cluster,
      graphs: DEFAULT_GRAPHS,
      ...given({ started_by: input.started_by, reason: input.reason }),
    };
    try {
      let child: Child<'execute_graph'> | null = null;
      const result = run.control.interruptible(async () => {
        const summary = `graph default of cluster ${cluster}`;
        child = await startChildOf('execute_graph', {
          id: workflowId,
          input: graphInput,
          summary,
          attributes: run.attributesOf({
            SiteName: input.site,
            StartedBy: input.started_by,
            GraphType: 'default',
            RunPhase: 'starting',
          }),
        });
        run.control.wake();
        return child.result();
      });
      const { outcome } = await follow(run, result, () => child);
      if (outcome === 'stopped' && !run.control.stopping) return failed(`${workflowId} was stopped`);
      const state = outcome === 'success' || outcome === 'nothing_to_do' ? ('success' as const) : ('stopped' as const);
      return { value: null, state, detail: `${workflowId}: ${outcome}` };
    } catch (error) {
      if (run.control.cancelled || !(error instanceof TemporalFailure)) throw error;
      return failed(stepError(error).message);
    }
  });
}

/** Forwards pause, resume and stop of the site's run to the child until it has ended. */
async function follow(
  { control }: SiteRun,
  result: Promise<GraphRunResult>,
  childOf: () => Child<'execute_graph'> | null,
): Promise<GraphRunResult> {
  let ended = false;
  const done = (): void => {
    ended = true;
    control.wake();
  };
  // The caller awaits the result and handles its failure.
  void result.then(done, done);
  const sent = { paused: false, stopping: false };
  while (!ended) {
    const child = childOf();
    if (child !== null) {
      const paused = control.paused !== null;
      if (paused !== sent.paused) void child.signal(paused ? 'pause' : 'resume');
      if (control.stopping && !sent.stopping) void child.signal('stop');
      sent.paused = paused;
      sent.stopping = control.stopping;
    }
    await control.changed();
  }
  return result;
}
