import { scheduleActivity } from '@temporalio/workflow';
import type { InspectNodesAnswer } from '../activities/contract.js';
import { bookkeeping } from './activity-options.js';
import { ACTIVITIES, WORKFLOWS } from './protocol.js';
import { checkSite } from './site-phases.js';
import { type RunResult, runSite } from './site-run.js';

/** Verifies a site and looks at every node's real state; changes nothing. */
export async function test_site(...args: unknown[]): Promise<RunResult> {
  return runSite(WORKFLOWS.test_site, args, async (run) => {
    const plan = await run.loadPlan();
    if (!plan) return;
    if (!(await checkSite(run, plan, 'verify_site'))) return;
    await run.phase('inspect_nodes', async () => {
      const request = { site: plan.site, revision: plan.revision };
      const found = await scheduleActivity<InspectNodesAnswer>(
        ACTIVITIES.inspect_nodes,
        [request],
        bookkeeping(`look at every node of ${plan.site}`),
      );
      run.progress.warnings.push(...found.problems.map(({ node, problem }) => `${node}: ${problem}`));
      const counts = Object.entries(found.counts).map(([state, count]) => `${count} ${state}`);
      return { value: null, detail: counts.join(', ') };
    });
  });
}
