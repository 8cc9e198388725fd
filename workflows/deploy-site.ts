import type { SiteRunResult } from './contract.ts';
import { deployGroups } from './site-phases.ts';
import { runSite } from './site-run.ts';
import { runSoftware } from './site-software.ts';

/** Deploys a site: verifies and prepares it, deploys group after group, then runs the software phase (docs/design.md#data-flow). */
export async function deploy_site(...args: unknown[]): Promise<SiteRunResult> {
  return runSite('deploy_site', args, async (run) => {
    const plan = await deployGroups(run);
    if (plan) await runSoftware(run, plan);
  });
}
