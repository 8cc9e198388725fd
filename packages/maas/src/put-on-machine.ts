import type { MaasClient } from './client.ts';
import { isMaasFailure, type MaasError } from './failure.ts';
import { kernelTag } from './layout/kernel-options.ts';
import type { Machine } from './machine.ts';
import type { MachineWarning } from './machine-outcome.ts';

/**
 * What Sitewright put on a machine and MAAS keeps when it releases it: the tag with its kernel options, and tags of documents.
 * MAAS removes the annotations itself, and with them the marker.
 * @param givenTags tags of documents that Sitewright put there; those of people stay
 */
export const leftOn = ({ systemId, tags }: Machine, givenTags: readonly string[]): readonly string[] =>
  tags.filter((tag) => tag === kernelTag(systemId) || givenTags.includes(tag));

/**
 * Removes tags from a machine. Safe to repeat. MAAS may refuse some of them, and the machine is released all the same.
 * @throws MaasError failures that may pass
 */
export async function takeOff(
  { inventory }: MaasClient,
  machine: Machine,
  tags: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ readonly kept: readonly string[]; readonly warnings: readonly MachineWarning[] }> {
  const { systemId } = machine;
  const kept: string[] = [];
  let refusal: MaasError | undefined;
  for (const tag of tags) {
    try {
      if (tag === kernelTag(systemId)) await inventory.deleteTag(tag, signal);
      else await inventory.changeTag(tag, { remove: [systemId] }, signal);
    } catch (error) {
      if (isMaasFailure(error, 'not-found')) continue;
      if (!isMaasFailure(error, 'forbidden', 'invalid', 'no-such-endpoint', 'conflict-state')) throw error;
      kept.push(tag);
      refusal = error;
    }
  }
  return { kept, warnings: refusal === undefined ? [] : [keptTags(machine, kept, refusal)] };
}

export const keptTags = ({ hostname }: Machine, tags: readonly string[], { message }: Error): MachineWarning => ({
  code: 'tags-kept',
  message: `${hostname} keeps ${tags.join(', ')} in MAAS: ${message}; remove the tags there before others use it`,
});
