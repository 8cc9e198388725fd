import type { SiteRunResult } from './contract.js';
import { deployGroups, releaseNodes } from './site-phases.js';
import { runSite } from './site-run.js';

/**
 * Brings a site from its last good revision to the wanted one: nodes unchanged and deployed are not
 * touched and count as successful; nodes gone from the documents are reported, and released only when
 * asked (`release_removed`), after everything else went well.
 */
export async function update_site(...args: unknown[]): Promise<SiteRunResult> {
  return runSite('update_site', args, async (run) => {
    const plan = await deployGroups(run);
    if (!plan) return;
    if (plan.removed.length > 0) {
      if (run.input.release_removed) await releaseNodes(run, plan, 'release_removed', plan.removed, false);
      else
        run.skip(
          'release_removed',
          `${plan.removed.length} nodes are gone from the documents and stay as they are; start with "release_removed": true to release them`,
        );
    }
    if (!(await run.control.mayStart())) return;
    run.skip('software', 'no cluster is linked to this site');
  });
}
