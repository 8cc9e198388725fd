import {
  holdOf,
  isInUse,
  isMaasFailure,
  type KnownMachine,
  type MachineContext,
  machinesNamed,
} from '@sitewright/maas';
import { compareKeys } from '../src/core/text/text.ts';
import type { ResolvedNode } from '../src/documents/index.ts';

const TAG_NAME = /^[\w-]+$/;

/** Tags that earlier documents gave a node and these do not. */
export const removedTags = (node: ResolvedNode, before: ResolvedNode | undefined): readonly string[] =>
  (before?.tags ?? []).filter((tag) => !node.tags.includes(tag));

interface TaggedNodes {
  readonly site: string;
  readonly nodes: readonly ResolvedNode[];
  /** As the site was deployed last, by name. */
  readonly before: ReadonlyMap<string, ResolvedNode>;
  readonly known: ReadonlyMap<string, KnownMachine>;
  /** Nodes whose machines the run takes over. */
  readonly adopt?: readonly string[] | undefined;
}

/**
 * Adds the tags of the documents to the machines in MAAS, and removes those of the last deployed documents that these lack,
 * with one call per tag. Other tags stay, and so do machines that others use. Tags help people and other tools find machines. No deployment
 * depends on them, so a refused tag becomes a warning.
 *
 * @param acting called before each change; if it rejects, the change is not made
 */
export async function syncTags(
  maas: MachineContext,
  { site, nodes, before, known, adopt }: TaggedNodes,
  acting: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<{ warnings: string[]; changes: string[] }> {
  const me = await maas.client.username(signal);
  const wanted = new Map<string, { readonly add: string[]; readonly remove: string[] }>();
  const changeOf = (tag: string) => {
    const change = wanted.get(tag) ?? { add: [], remove: [] };
    wanted.set(tag, change);
    return change;
  };
  await Promise.all(
    nodes.map(async (node) => {
      const found = await machinesNamed(maas, node.name, known.get(node.name), signal);
      const [machine] = found;
      if (!machine || found.length > 1) return;
      const isOthers = isInUse(machine.status) && holdOf(machine, { me, site }) !== 'ours';
      if (isOthers && !adopt?.includes(node.name)) return;
      const { systemId, tags } = machine;
      for (const tag of node.tags.filter((name) => !tags.includes(name))) changeOf(tag).add.push(systemId);
      const gone = removedTags(node, before.get(node.name));
      for (const tag of gone.filter((name) => tags.includes(name))) changeOf(tag).remove.push(systemId);
    }),
  );
  const warnings: string[] = [];
  const changes: string[] = [];
  const machines = (ids: readonly string[]) => `${ids.length} ${ids.length === 1 ? 'machine' : 'machines'} in MAAS`;
  for (const [tag, change] of [...wanted].sort(compareKeys)) {
    if (!TAG_NAME.test(tag)) {
      warnings.push(`tag ${tag} was not set in MAAS: names there have letters, digits, _ and - only`);
      continue;
    }
    await acting();
    const { add, remove } = change;
    try {
      if (add.length > 0) await maas.client.inventory.ensureTag(tag, 'made by Sitewright', signal);
      await maas.client.inventory.changeTag(tag, change, signal);
      if (add.length > 0) changes.push(`tag ${tag} was added to ${machines(add)}`);
      if (remove.length > 0) changes.push(`tag ${tag} was removed from ${machines(remove)}`);
    } catch (error) {
      if (!isMaasFailure(error, 'forbidden', 'invalid', 'not-found', 'no-such-endpoint', 'conflict-state')) throw error;
      warnings.push(`tag ${tag} was not set in MAAS: ${error.message}`);
    }
  }
  return { warnings, changes };
}
