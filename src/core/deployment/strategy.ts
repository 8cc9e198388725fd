/**
 * The words of a DeploymentStrategy document (spec/5, "Deployment Strategy Document") after its
 * shape has been checked by src/documents. Field names are the document's own.
 */

import type { SuccessCriteria } from '../contracts/site-run.js';

/** A label a selector asks for: `"key: value"`, `"key:value"` or a mapping (design §8.2). */
export type LabelEntry = string | Readonly<Record<string, unknown>>;

/** One selector: the intersection of its criteria; an absent or empty criterion is ignored. */
export interface Selector {
  readonly node_names?: readonly string[];
  readonly node_tags?: readonly string[];
  readonly node_labels?: readonly LabelEntry[];
  readonly rack_names?: readonly string[];
}

export interface Group {
  readonly name: string;
  /** A critical group that fails halts the run after the baremetal step. */
  readonly critical: boolean;
  readonly depends_on: readonly string[];
  /** Union of the selectors; an empty list means all nodes. */
  readonly selectors: readonly Selector[];
  readonly success_criteria?: SuccessCriteria;
}

export interface DeploymentStrategy {
  readonly groups: readonly Group[];
}

/** What selectors look at in a node; tags, labels and rack include what its host profile gives. */
export interface SiteNode {
  readonly name: string;
  readonly rack: string | null;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Name a site's strategy document has when its configuration names none (design §8.6). */
export const DEFAULT_STRATEGY_NAME = 'deployment-strategy';

/** Used when a site has no strategy document: one critical group of all nodes at 100 % (design §8.6). */
export function allAtOnceStrategy(): DeploymentStrategy {
  return { groups: [criticalGroup('default', [])] };
}

/** Used when a run names its nodes: they are one critical group at 100 %. */
export function targetedStrategy(nodeNames: readonly string[]): DeploymentStrategy {
  // An empty selector would mean every node of the site: the opposite of what was asked.
  if (nodeNames.length === 0) throw new RangeError('a targeted strategy needs at least one node name');
  return { groups: [criticalGroup('target-group', [{ node_names: nodeNames }])] };
}

function criticalGroup(name: string, selectors: readonly Selector[]): Group {
  return { name, critical: true, depends_on: [], selectors, success_criteria: { percent_successful_nodes: 100 } };
}
