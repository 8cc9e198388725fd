/** A node as the choice of primaries sees it. */
export interface PrimaryCandidate {
  readonly id: number;
  readonly tags: readonly string[];
  readonly status: string;
  readonly pendingDeletion: boolean;
  /** Tags it is primary for since an earlier run. */
  readonly primaryTags: readonly string[];
}

export interface PrimaryChoice {
  /** Every node of the cluster. */
  readonly nodes: readonly PrimaryCandidate[];
  /** Ids of the nodes of this run: new primaries are taken from these. */
  readonly run: readonly number[];
  /** Tags that have a primary node. */
  readonly tags: Iterable<string>;
}

/**
 * For every tag with a primary: the node that has been primary stays so, as long as it has the tag and is not about to
 * be deleted; else the first by id of the run's nodes that have the tag, one that is ready before all others. Asking
 * again gives the same. By node id, sorted names; nodes that are primary for nothing are left out.
 */
export function choosePrimaryTags({ nodes, run, tags }: PrimaryChoice): Map<number, string[]> {
  const inRun = new Set(run);
  const able = nodes.filter((node) => !node.pendingDeletion).sort((a, b) => a.id - b.id);
  const chosen = new Map<number, string[]>();
  for (const tag of [...new Set(tags)].sort()) {
    const having = able.filter((node) => node.tags.includes(tag));
    const candidates = having.filter(({ id }) => inRun.has(id));
    const primary =
      having.find((node) => node.primaryTags.includes(tag)) ??
      candidates.find(({ status }) => status === 'ready') ??
      candidates[0];
    if (primary === undefined) continue;
    const own = chosen.get(primary.id);
    if (own === undefined) chosen.set(primary.id, [tag]);
    else own.push(tag);
  }
  return chosen;
}

/** A node's tags as tasks name them: `primary-TAG` in place of each tag it is primary for; sorted. */
export function withPrimaries(tags: readonly string[], primary: readonly string[]): string[] {
  const marked = new Set(primary);
  return [...new Set(tags)].map((tag) => (marked.has(tag) ? `primary-${tag}` : tag)).sort();
}
