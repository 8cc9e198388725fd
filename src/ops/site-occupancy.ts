import { WorkflowFailedError } from '@temporalio/client';
import { isRunOpen } from '../platform/temporal/is-run-open.ts';
import type { ClaimHolder } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import { type ProblemError, problem } from './problem.ts';
import { callTemporal } from './temporal-calls.ts';

/** Which run holds a site: one run per site at a time. */
interface SiteOccupancy {
  /**
   * Resolves if no run holds the site: none has its claim, and none has started that is yet to claim it. Between two
   * simultaneous starts, the claim in the workflow decides.
   * @throws `site-busy`
   */
  untilFree(site: string): Promise<void>;
  /**
   * Waits for a run that has reported its end to close in Temporal, which takes a moment, so that the next run can
   * start immediately.
   * @throws `site-busy` if the run is open
   */
  untilClosed(site: string, run: ClaimHolder): Promise<void>;
  /** @returns the error to throw: the run has the site */
  busy(site: string, run: ClaimHolder): Promise<ProblemError>;
  /** The current run of a workflow id. */
  openRun(workflowId: string): Promise<ClaimHolder>;
}

export function siteOccupancy({ store, temporal }: OpsDependencies): SiteOccupancy {
  const { client } = temporal;
  const call = <T>(work: () => Promise<T>) => callTemporal(temporal, work);

  async function untilClosed(site: string, run: ClaimHolder): Promise<void> {
    const outcome = await store.runs.get(run.runId).then(
      (stored) => stored.outcome,
      () => null,
    );
    if (outcome === null) throw await busy(site, run);
    await call(() => client.workflow.getHandle(run.workflowId, run.runId).result()).catch((error: unknown) => {
      if (!(error instanceof WorkflowFailedError)) throw error;
    });
  }

  async function busy(site: string, { workflowId, runId }: ClaimHolder): Promise<ProblemError> {
    const { raw } = await call(() => client.workflow.getHandle(workflowId, runId).describe());
    const isEnding = raw.workflowExtendedInfo?.cancelRequested === true;
    const state = isEnding ? ', which is being cancelled: it ends once its machines are aborted' : '';
    const next = isEnding ? 'Then start again' : `Stop it: sitewright run stop ${runId}`;
    return problem(
      'site-busy',
      `site ${site} is busy with ${workflowId} (run ${runId})${state || ': one run per site at a time'}`,
      { hint: `Watch it: sitewright run show ${runId} --watch. ${next}`, run: { id: runId, workflow_id: workflowId } },
    );
  }

  return {
    busy,
    untilClosed,
    async untilFree(site) {
      const holder = await store.claims.holder({ site });
      const { items } = await store.runs.list({ site, open: true, limit: 10 });
      const started = items.flatMap(({ workflowId, temporalRunId }) =>
        temporalRunId === null ? [] : [{ workflowId, runId: temporalRunId }],
      );
      for (const run of [...(holder ? [holder] : []), ...started]) {
        if (await call(() => isRunOpen(client, run.workflowId, run.runId))) await untilClosed(site, run);
      }
    },
    async openRun(workflowId) {
      const { runId } = await call(() => client.workflow.getHandle(workflowId).describe());
      return { workflowId, runId };
    },
  };
}
