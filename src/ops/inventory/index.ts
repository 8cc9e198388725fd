/** Releases, clusters, nodes, roles and settings: the input of plans. `not-found` failures use Fuel's terms. */
import type { OpsDependencies } from '../dependencies.js';
import { inFuelTerms } from '../graphs/fuel-terms.js';
import { assignmentOperations } from './assignment.js';
import { clusterSettingsOperations } from './cluster-settings.js';
import { clusterOperations } from './clusters.js';
import { factsOperations } from './facts.js';
import { inventoryNodeOperations } from './nodes.js';
import { pluginOperations } from './plugins.js';
import { releaseOperations } from './releases.js';
import { roleOperations } from './roles.js';

export { extendedReleases } from '../../clusters/index.js';
export type { ClusterView } from './clusters.js';
export { hasUploadedFacts } from './facts.js';
export type { NodeView } from './nodes.js';
export { isDeployable, vmwareAttributes } from './releases.js';

export const inventoryOperations = (deps: OpsDependencies) => ({
  releases: inFuelTerms(releaseOperations(deps)),
  clusters: inFuelTerms(clusterOperations(deps)),
  settings: inFuelTerms(clusterSettingsOperations(deps)),
  facts: inFuelTerms(factsOperations(deps)),
  assignment: inFuelTerms(assignmentOperations(deps)),
  nodes: inFuelTerms(inventoryNodeOperations(deps)),
  roles: inFuelTerms(roleOperations(deps)),
  plugins: inFuelTerms(pluginOperations(deps)),
});
