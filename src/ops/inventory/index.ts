/** Releases, clusters, nodes, roles and settings: the input of plans. `not-found` failures use Fuel's terms. */
import type { OpsDependencies } from '../dependencies.js';
import { inFuelTerms } from '../graphs/fuel-terms.js';
import { type AssignmentOperations, assignmentOperations } from './assignment.js';
import { type ClusterSettingsOperations, clusterSettingsOperations } from './cluster-settings.js';
import { type ClusterOperations, clusterOperations } from './clusters.js';
import { type FactsOperations, factsOperations } from './facts.js';
import { type InventoryNodeOperations, inventoryNodeOperations } from './nodes.js';
import { type PluginOperations, pluginOperations } from './plugins.js';
import { type ReleaseOperations, releaseOperations } from './releases.js';
import { type RoleOperations, roleOperations } from './roles.js';

export { extendedReleases } from '../../clusters/index.js';
export type { ClusterView } from './clusters.js';
export { hasUploadedFacts } from './facts.js';
export type { NodeView } from './nodes.js';
export { isDeployable, vmwareAttributes } from './releases.js';

export interface InventoryOperations {
  readonly releases: ReleaseOperations;
  readonly clusters: ClusterOperations;
  readonly settings: ClusterSettingsOperations;
  readonly facts: FactsOperations;
  readonly assignment: AssignmentOperations;
  readonly nodes: InventoryNodeOperations;
  readonly roles: RoleOperations;
  readonly plugins: PluginOperations;
}

export function inventoryOperations(deps: OpsDependencies): InventoryOperations {
  return {
    releases: inFuelTerms(releaseOperations(deps)),
    clusters: inFuelTerms(clusterOperations(deps)),
    settings: inFuelTerms(clusterSettingsOperations(deps)),
    facts: inFuelTerms(factsOperations(deps)),
    assignment: inFuelTerms(assignmentOperations(deps)),
    nodes: inFuelTerms(inventoryNodeOperations(deps)),
    roles: inFuelTerms(roleOperations(deps)),
    plugins: inFuelTerms(pluginOperations(deps)),
  };
}
