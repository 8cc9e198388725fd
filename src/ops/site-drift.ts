import { driftOf, machineState } from '@sitewright/maas';
import { maintenanceOfSite } from '../clusters/maintenance.ts';
import type { SiteDrift } from '../core/contracts/site-drift.ts';
import { given } from '../core/data/given.ts';
import { outOfServiceOf } from '../core/node-system.ts';
import { compareText } from '../core/text/text.ts';
import type { DeployedMachine } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import type { SiteOperations } from './sites.ts';

type NodeDrift = SiteDrift['nodes'][number];

/**
 * Compares machines in MAAS with their deployments: one list request for a hundred machines.
 *
 * @throws `not-found`, `maas-failed`, `maas-not-configured`
 */
export async function siteDrift(
  { store, maas }: Pick<OpsDependencies, 'store' | 'maas'>,
  sites: SiteOperations,
  site: string,
): Promise<SiteDrift> {
  const { lastGoodRevision } = await store.sites.get(site);
  const recorded = await store.deployedMachines.list(site);
  const expected = lastGoodRevision === null ? [] : (await sites.documents(site, 'last-good')).site.nodes;
  const checked_at = new Date().toISOString();
  const ids = recorded.map(({ systemId }) => systemId);
  const found = ids.length === 0 ? [] : await maas().client.layouts.machines(ids);
  const now = new Map(found.map((whole) => [whole.machine.systemId, machineState(whole)]));
  const compared = recorded.map((one): NodeDrift => {
    const state = now.get(one.systemId);
    if (state === undefined) return { ...aboutOf(one), state: 'missing', differences: [] };
    const differences = driftOf(one.state, state);
    return { ...aboutOf(one), state: differences.length === 0 ? 'same' : 'drifted', differences: [...differences] };
  });
  const known = new Set(recorded.map(({ node }) => node));
  const outOfService = new Map(
    (await store.nodes.list({ site })).flatMap((node) => {
      const state = outOfServiceOf(node);
      return state === null ? [] : [[node.name, { state, ...given({ reason: node.errorMsg ?? undefined }) }] as const];
    }),
  );
  const unrecorded = [...new Set([...expected.map(({ name }) => name), ...outOfService.keys()])]
    .filter((name) => !known.has(name))
    .map((node): NodeDrift => ({ ...NOTHING, node, differences: [], state: 'unrecorded', ...outOfService.get(node) }));
  const notes = await maintenanceOfSite(store, site);
  const nodes = [...compared, ...unrecorded]
    .map((one) => ({ ...one, ...given({ maintenance: notes.get(one.node) }) }))
    .sort((a, b) => compareText(a.node, b.node));
  return { site, checked_at, nodes };
}

const NOTHING = { system_id: null, deployed_at: null, run: null, revision: null };

const aboutOf = ({ node, systemId, at, runId, revision }: DeployedMachine) => ({
  node,
  system_id: systemId,
  deployed_at: at,
  run: runId,
  revision,
});
