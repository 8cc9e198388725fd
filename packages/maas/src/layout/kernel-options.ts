import type { MaasClient } from '../client.ts';
import type { Machine } from '../machine.ts';

/** MAAS has kernel options only at tags, so that each machine with some has a tag of its own. */
export const kernelTag = (systemId: string): string => `sitewright-kernel-${systemId}`;

/** Whether a machine still has to get these kernel options: then tags are changed, which needs a right of its own. */
export async function needsKernelOptions(
  { inventory }: MaasClient,
  { systemId, tags }: Pick<Machine, 'systemId' | 'tags'>,
  options: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const name = kernelTag(systemId);
  return !tags.includes(name) || (await inventory.findTag(name, signal))?.kernelOptions !== options;
}

/**
 * Gives a machine kernel options, or removes those that it has from us. Each call follows from the state in MAAS, so
 * that it may be repeated.
 * @param machineTags the tags of the machine in MAAS
 * @param acting called before each change
 * @returns the changes
 */
export async function applyKernelOptions(
  { inventory }: MaasClient,
  systemId: string,
  machineTags: readonly string[],
  options: string | undefined,
  acting: () => Promise<void>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const name = kernelTag(systemId);
  const isTagged = machineTags.includes(name);
  if (options === undefined) {
    if (!isTagged) return [];
    await acting();
    await inventory.deleteTag(name, signal);
    return ['remove the kernel options'];
  }
  const found = await inventory.findTag(name, signal);
  if (found?.kernelOptions === options && isTagged) return [];
  await acting();
  const tag = found ?? (await inventory.ensureTag(name, 'kernel options of one machine, made by Sitewright', signal));
  if (tag.kernelOptions !== options) await inventory.setKernelOptions(name, options, signal);
  if (!isTagged) await inventory.changeTag(name, { add: [systemId] }, signal);
  return [`set the kernel options ${options}`];
}
