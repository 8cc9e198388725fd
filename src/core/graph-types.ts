/** Graph types with two names: the specification's, and that of Fuel's own library. */
const SYNONYMS = [
  ['provisioning', 'provision'],
  ['network_verification', 'net-verification'],
] as const;

/** The type itself and its other name: of an owner that has graphs of both, the first counts. */
export function namesOfType(type: string): readonly string[] {
  const other = SYNONYMS.flatMap(([a, b]) => (type === a ? [b] : type === b ? [a] : []));
  return [type, ...other];
}

/** The step of nodes that a graph performs, by its type. All types of users' own `deploy`. */
export type GraphAction = 'delete' | 'provision' | 'verify' | 'deploy';

export function actionOf(type: string): GraphAction {
  const names = namesOfType(type);
  if (names.includes('deletion')) return 'delete';
  if (names.includes('provisioning')) return 'provision';
  return names.includes('network_verification') ? 'verify' : 'deploy';
}

/** A cluster's intention for a node: remove it, make a member of it, or keep it as it is. */
export type NodeStanding = 'leaving' | 'new' | 'staying';

interface StandingFacts {
  readonly pending_addition: boolean;
  readonly pending_deletion: boolean;
  /** The last failed step on it: `provision`, `deploy` … */
  readonly error_type: string | null;
}

/** A node whose provisioning failed is still new. Leaving counts first: a node may be removed before it is deployed. */
export function standingOf(node: StandingFacts): NodeStanding {
  if (node.pending_deletion) return 'leaving';
  return node.pending_addition || node.error_type === 'provision' ? 'new' : 'staying';
}

/**
 * Whether a graph is for a node. Its type alone decides. Node filters and lists of nodes choose among these nodes and
 * never add others: a graph that erases machines must not reach the ones that stay because its filter is missing.
 */
export function isFor(type: string, standing: NodeStanding): boolean {
  switch (actionOf(type)) {
    case 'delete':
      return standing === 'leaving';
    case 'provision':
      return standing === 'new';
    // Networks are verified before anything is deployed on them.
    case 'verify':
      return standing !== 'leaving';
    case 'deploy':
      return standing === 'staying';
  }
}

/** The nodes that tasks of a destroying type may have. Types that are not listed destroy nothing. */
const MAY_DESTROY: Readonly<Record<string, readonly NodeStanding[]>> = {
  erase_node: ['leaving'],
  // Fuel's own library releases the machine of a new node before it provisions it.
  move_to_bootstrap: ['leaving', 'new'],
};

/** Whether a task of the type may run on such a node. Undefined: a node outside the cluster, such as `master`. */
export function mayRunOn(taskType: string, standing: NodeStanding | undefined): boolean {
  if (!Object.hasOwn(MAY_DESTROY, taskType)) return true;
  return standing !== undefined && MAY_DESTROY[taskType]!.includes(standing);
}
