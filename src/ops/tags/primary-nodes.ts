import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { StorePorts } from '../../store/index.ts';
import { finding } from '../inventory/refuse.ts';
import { roleCatalogue } from '../inventory/role-catalogue.ts';

const PREFIX = 'primary-';

/** Tags to assign: those that nodes get, and those for which a node becomes the primary (`primary-TAG`). */
export function tagsAndPrimaries(tags: readonly string[]): { readonly tags: string[]; readonly primaries: string[] } {
  const all = [...new Set(tags)];
  return {
    tags: all.filter((tag) => !tag.startsWith(PREFIX)),
    primaries: all.filter((tag) => tag.startsWith(PREFIX)).map((tag) => tag.slice(PREFIX.length)),
  };
}

/** Why nodes of a cluster cannot become primary for tags. */
export async function primaryProblems(
  store: StorePorts,
  cluster: number,
  nodes: readonly number[],
  { tags, primaries }: ReturnType<typeof tagsAndPrimaries>,
): Promise<readonly Diagnostic[]> {
  if (primaries.length === 0) return [];
  const { tags: known } = await roleCatalogue(store, cluster);
  const held = await store.tags.assignments(cluster, { nodeIds: nodes, tags: primaries });
  const [first] = await store.nodes.list({ ids: nodes.slice(0, 1) });
  const called = first === undefined ? 'it' : calledText('node', first);
  return primaries.flatMap((tag): readonly Diagnostic[] => {
    const problem = (message: string, hint: string) => [finding('tag.no-primary', 'query.tags', message, hint)];
    if (known.get(tag)?.meta.has_primary !== true)
      return problem(`no node is primary for '${tag}'`, 'Only tags with has_primary have a primary node.');
    if (nodes.length > 1)
      return problem(`one node is primary for '${tag}', not ${nodes.length}`, 'Name one node of the cluster.');
    if (tags.includes(tag) || held.some((one) => one.tag === tag)) return [];
    return problem(
      `${called} does not have the tag '${tag}'`,
      `Assign it as well: 'sitewright tag assign --node ${nodes[0]} --tag ${tag}'.`,
    );
  });
}

/** Makes a node the primary of tags, from the next plan on; the earlier one keeps the tag. */
export async function makePrimary(
  store: StorePorts,
  cluster: number,
  node: number,
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0) return;
  const { primaries } = await store.clusters.get(cluster);
  const changed = { ...primaries, ...Object.fromEntries(tags.map((tag) => [tag, node])) };
  await store.clusters.update(cluster, { primaries: changed });
}
