/**
 * The data of a DeploymentStrategy document (docs/explain/design.md#spec-5, "Deployment Strategy Document") after src/documents has checked
 * its shape. The field names are those of the document.
 */

import type { SuccessCriteria } from '../contracts/site-run.ts';
import type { WrittenRollout } from '../rollout/policy.ts';

/** A label that a selector matches: `"key: value"`, `"key:value"` or a mapping (docs/explain/design.md#deployment-groups). */
export type LabelEntry = string | Readonly<Record<string, unknown>>;

/** One selector: the intersection of its criteria. Absent or empty criteria are ignored. */
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
  readonly rollout?: WrittenRollout;
}

export interface DeploymentStrategy {
  readonly groups: readonly Group[];
}

/** The properties of a node that selectors match. Tags, labels and rack include those of its host profile. */
export interface SiteNode {
  readonly name: string;
  readonly rack: string | null;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Name of a site's strategy document if its configuration names none (docs/explain/design.md#deployment-groups). */
export const DEFAULT_STRATEGY_NAME = 'deployment-strategy';

/** Used when a site has no strategy document: one critical group of all nodes at 100 % (docs/explain/design.md#deployment-groups). */
export function allAtOnceStrategy(): DeploymentStrategy {
  return { groups: [criticalGroup('default', [])] };
}

/** Used when a run names its nodes: one critical group of these nodes at 100 %. */
export function targetedStrategy(nodeNames: readonly string[]): DeploymentStrategy {
  // An empty selector would match every node of the site: the opposite of the request.
  if (nodeNames.length === 0) throw new RangeError('a targeted strategy needs at least one node name');
  return { groups: [criticalGroup('target-group', [{ node_names: nodeNames }])] };
}

function criticalGroup(name: string, selectors: readonly Selector[]): Group {
  return { name, critical: true, depends_on: [], selectors, success_criteria: { percent_successful_nodes: 100 } };
}
