import { BEFORE_CHANGES } from '../src/core/run/index.ts';
import type { SiteRunKind } from '../src/core/words.ts';
import { deployGroups } from './baremetal.ts';
import type { SiteRunResult } from './contract.ts';
import {
  fetchedRevision,
  inspectNodes,
  loadPlan,
  prepareSite,
  releaseNodes,
  releaseRemoved,
  runSoftware,
  verifySite,
} from './site-phases.ts';
import { SiteRun } from './site-run.ts';

/** Deploys a site: verifies and prepares it, deploys group after group, then runs the software phase (docs/explain/design.md#data-flow). */
export const deploy_site = siteWorkflow('deploy_site', async (run) => {
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan));
  await run.approval(BEFORE_CHANGES);
  await run.phase('prepare_site', prepareSite(plan));
  await run.phase('baremetal', deployGroups(plan));
  await run.phase('software', runSoftware(plan));
});

/**
 * Updates a site from its last good revision to the requested one. Unchanged deployed nodes are not touched and count
 * as success. Nodes removed from the documents are reported, and released only on request (`release_removed`) after
 * everything else succeeded.
 */
export const update_site = siteWorkflow('update_site', async (run) => {
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan));
  await run.approval(BEFORE_CHANGES);
  await run.phase('prepare_site', prepareSite(plan));
  await run.phase('baremetal', deployGroups(plan));
  if (plan.removed.length > 0) await run.phase('release_removed', releaseRemoved(run, plan));
  await run.phase('software', runSoftware(plan));
});

/** Releases the named nodes, then deploys them as one critical group at 100 %. Deploys nothing unless all were released. */
export const redeploy_nodes = siteWorkflow('redeploy_nodes', async (run) => {
  const { nodes = [], erase = false } = run.input;
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan, nodes));
  await run.approval(BEFORE_CHANGES);
  const { unreleased } = await run.phase('release', releaseNodes(plan, nodes, erase));
  await run.goOn();
  if (unreleased.length > 0) run.fail({ kind: 'release-failed', nodes: unreleased });
  await run.phase('prepare_site', prepareSite(plan, nodes));
  await run.phase('baremetal', deployGroups(plan));
});

/** Verifies a site and reads the real state of every node. Changes nothing. */
export const test_site = siteWorkflow('test_site', async (run) => {
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan));
  await run.phase('inspect_nodes', inspectNodes(plan));
});

/** Its body throws `RunEnded` where the run must not go on: stopped, failed, or nothing left to do. */
function siteWorkflow(kind: SiteRunKind, body: (run: SiteRun) => Promise<void>) {
  return async (...args: unknown[]): Promise<SiteRunResult> => new SiteRun(kind, args, body).run();
}
