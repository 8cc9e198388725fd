import { counted } from '../src/core/text/text.ts';
import type { SiteRunResult } from './contract.ts';
import { deployGroups, releaseNodes } from './site-phases.ts';
import { runSite } from './site-run.ts';
import { runSoftware } from './site-software.ts';

/**
 * Updates a site from its last good revision to the requested one. Unchanged deployed nodes are not touched and count
 * as success. Nodes removed from the documents are reported, and released only on request (`release_removed`) after
 * everything else succeeded.
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
          `${counted(plan.removed.length, 'node')} removed from the documents, but still deployed; start with "release_removed": true to release them`,
        );
    }
    if (!run.progress.failure && (await run.control.mayStart())) await runSoftware(run, plan);
  });
}
