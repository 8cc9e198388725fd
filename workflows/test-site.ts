import { inquiry } from './activity-options.ts';
import { callActivity } from './border.ts';
import type { SiteRunResult } from './contract.ts';
import { checkSite } from './site-phases.ts';
import { runSite } from './site-run.ts';

/** Verifies a site and reads the real state of every node. Changes nothing. */
export async function test_site(...args: unknown[]): Promise<SiteRunResult> {
  return runSite('test_site', args, async (run) => {
    const plan = await run.loadPlan();
    if (!plan) return;
    if (!(await checkSite(run, plan, 'verify_site'))) return;
    await run.phase('inspect_nodes', async () => {
      const request = { site: plan.site, revision: plan.revision };
      const options = inquiry(`inspect every node of ${plan.site}`, plan.pace.heartbeat_seconds);
      const found = await run.control.readOnly(() => callActivity('inspect_nodes', request, options));
      run.progress.warnings.push(...found.problems.map(({ node, problem }) => `${node}: ${problem}`));
      const counts = Object.entries(found.counts).map(([state, count]) => `${count} ${state}`);
      return { value: null, detail: counts.join(', ') };
    });
  });
}
