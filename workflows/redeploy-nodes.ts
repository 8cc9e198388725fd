import { BEFORE_CHANGES } from '../src/core/run/index.ts';
import { approved, isHeld } from './approval.ts';
import { runBaremetal } from './baremetal.ts';
import type { SiteRunResult } from './contract.ts';
import { checkSite, releaseNodes } from './site-phases.ts';
import { runSite } from './site-run.ts';

/** Releases the named nodes, then deploys them as one critical group at 100 %. Deploys nothing unless all were released. */
export async function redeploy_nodes(...args: unknown[]): Promise<SiteRunResult> {
  return runSite('redeploy_nodes', args, async (run) => {
    const plan = await run.loadPlan();
    if (!plan) return;
    if (!(await checkSite(run, plan, 'verify_site', run.input.nodes))) return;
    if (isHeld(run, BEFORE_CHANGES) && !(await approved(run, BEFORE_CHANGES))) return;
    const unreleased = await releaseNodes(run, plan, 'release', run.input.nodes ?? [], run.input.erase ?? false);
    if (unreleased === null) return;
    if (!(await run.control.mayStart())) return;
    if (unreleased.length > 0) {
      run.fail({ kind: 'release-failed', nodes: unreleased });
      return;
    }
    if (!(await checkSite(run, plan, 'prepare_site', run.input.nodes))) return;
    await runBaremetal(run, plan);
  });
}
