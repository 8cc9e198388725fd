import { compareKeys } from '../src/core/compare-text.js';
import type { ResolvedNode } from '../src/documents/index.js';
import { isMaasFailure, type MachineContext } from '../src/maas/index.js';

const TAG_NAME = /^[\w-]+$/;

/**
 * Adds the tags of the documents to the machines in MAAS, with one call per tag, and removes none. Tags help people
 * and other tools find machines. No deployment depends on them, so a refused tag becomes a warning.
 *
 * @param acting called before each change; if it rejects, the change is not made
 */
export async function syncTags(
  maas: MachineContext,
  nodes: readonly ResolvedNode[],
  acting: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<{ warnings: string[]; changes: string[] }> {
  const { inventory } = maas.client;
  const wanted = new Map<string, string[]>();
  await Promise.all(
    nodes.map(async (node) => {
      const found = await maas.lookup.find(node.name, signal);
      const [machine] = found;
      if (!machine || found.length > 1) return;
      for (const tag of node.tags.filter((name) => !machine.tags.includes(name))) {
        wanted.set(tag, [...(wanted.get(tag) ?? []), machine.systemId]);
      }
    }),
  );
  const warnings: string[] = [];
  const changes: string[] = [];
  for (const [tag, machines] of [...wanted].sort(compareKeys)) {
    if (!TAG_NAME.test(tag)) {
      warnings.push(`tag ${tag} was not set in MAAS: names there have letters, digits, _ and - only`);
      continue;
    }
    await acting();
    try {
      await inventory.ensureTag(tag, 'made by Sitewright', signal);
      await inventory.changeTag(tag, { add: machines }, signal);
      changes.push(
        `tag ${tag} was added to ${machines.length} ${machines.length === 1 ? 'machine' : 'machines'} in MAAS`,
      );
    } catch (error) {
      if (!isMaasFailure(error, 'forbidden', 'invalid', 'not-found', 'no-such-endpoint', 'conflict-state')) throw error;
      warnings.push(`tag ${tag} was not set in MAAS: ${error.message}`);
    }
  }
  return { warnings, changes };
}
