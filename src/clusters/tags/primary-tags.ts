/** A node in the choice of primary nodes. */
interface PrimaryCandidate {
  readonly id: number;
  readonly tags: readonly string[];
  readonly status: string;
  readonly pendingDeletion: boolean;
  /** Tags for which it has been the primary node since an earlier run. */
  readonly primaryTags: readonly string[];
}

interface PrimaryChoice {
  /** Every node of the cluster. */
  readonly nodes: readonly PrimaryCandidate[];
  /** Ids of the nodes of this run: new primary nodes come from these. */
  readonly run: readonly number[];
  /** Tags with a primary node. */
  readonly tags: Iterable<string>;
}

/**
 * Chooses the primary node of every tag: the previous one, as long as it has the tag and is not pending deletion; else
 * the first by id of the run's nodes with the tag, preferring ready ones. Repeatable. Returns sorted tags by node id,
 * without nodes that are not primary.
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

/** A node's tags as tasks name them, sorted: `primary-TAG` replaces each tag for which it is primary. */
export function withPrimaries(tags: readonly string[], primary: readonly string[]): string[] {
  const marked = new Set(primary);
  return [...new Set(tags)].map((tag) => (marked.has(tag) ? `primary-${tag}` : tag)).sort();
}
