/** Releases, clusters, nodes, roles and settings: the input of plans. `not-found` failures use Fuel's terms. */
import type { OpsDependencies } from '../dependencies.ts';
import { inFuelTerms } from '../graphs/fuel-terms.ts';
import { assignmentOperations } from './assignment.ts';
import { clusterSettingsOperations } from './cluster-settings.ts';
import { clusterOperations } from './clusters.ts';
import { factsOperations } from './facts.ts';
import { moveOperations } from './move.ts';
import { inventoryNodeOperations } from './nodes.ts';
import { pluginOperations } from './plugins.ts';
import { releaseOperations } from './releases.ts';
import { roleOperations } from './roles.ts';
import { versionOperations } from './versions.ts';

export { extendedReleases } from '../../clusters/plugin-fit.ts';
export type { ClusterView } from './clusters.ts';
export { hasUploadedFacts } from './facts.ts';
export type { PluginWithTags } from './plugins.ts';
export { isDeployable, vmwareAttributes } from './releases.ts';

export const inventoryOperations = (deps: OpsDependencies) => ({
  releases: inFuelTerms(releaseOperations(deps)),
  clusters: inFuelTerms(clusterOperations(deps)),
  settings: inFuelTerms(clusterSettingsOperations(deps)),
  versions: inFuelTerms(versionOperations(deps)),
  move: inFuelTerms(moveOperations(deps)),
  facts: inFuelTerms(factsOperations(deps)),
  assignment: inFuelTerms(assignmentOperations(deps)),
  nodes: inFuelTerms(inventoryNodeOperations(deps)),
  roles: inFuelTerms(roleOperations(deps)),
  plugins: inFuelTerms(pluginOperations(deps)),
});
export type { NodeView } from './node-change.ts';
