import type { MaasClient } from '../client.ts';

/**
 * Devices by their addresses on a bus, from the output of `lshw -xml` that MAAS keeps of the commissioning:
 * `pci@0000:00:03.0` is `eth0`, `scsi@2:0.0.0` is `sda`.
 */
export function busAddresses(lshw: string): ReadonlyMap<string, string> {
  const devices = new Map<string, string>();
  const open: { bus?: string; name?: string }[] = [];
  for (const [token, , tag, text] of lshw.matchAll(/<(node|\/node)\b[^<>]*>|<(businfo|logicalname)>([^<]*)</g)) {
    if (token.startsWith('<node')) {
      if (!token.endsWith('/>')) open.push({});
      continue;
    }
    const node = token.startsWith('</node') ? open.pop() : open.at(-1);
    if (!node) continue;
    if (tag === 'businfo') node.bus = (text ?? '').trim().toLowerCase();
    // The first name is that of the device itself.
    else if (tag === 'logicalname') node.name ??= (text ?? '').trim().replace(/^\/dev\//, '');
    else if (node.bus !== undefined && node.name !== undefined) devices.set(node.bus, node.name);
  }
  return devices;
}

/** Those of a machine: only what `lshw` said at its commissioning has them. Empty: it was not commissioned. */
export async function busAddressesOf(
  { diagnostics }: Pick<MaasClient, 'diagnostics'>,
  systemId: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const results = await diagnostics.scriptResults(systemId, 'commissioning', { includeOutput: true }, signal);
  return busAddresses(results.find(({ name }) => name.endsWith('lshw'))?.output ?? '');
}
