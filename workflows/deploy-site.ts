import { runBaremetal } from './baremetal.js';
import type { SiteRunResult } from './contract.js';
import { checkSite } from './site-phases.js';
import { runSite } from './site-run.js';
import { runSoftware } from './site-software.js';

/** Deploys a site: verify site, prepare site, group after group, then software (design §4). */
export async function deploy_site(...args: unknown[]): Promise<SiteRunResult> {
  return runSite('deploy_site', args, async (run) => {
    const plan = await run.loadPlan();
    if (!plan) return;
    if (!(await checkSite(run, plan, 'verify_site'))) return;
    if (!(await checkSite(run, plan, 'prepare_site'))) return;
    await runBaremetal(run, plan);
    if (run.progress.failure || !(await run.control.mayStart())) return;
    await runSoftware(run, plan);
  });
}
