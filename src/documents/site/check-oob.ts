import { isIP } from 'node:net';
import type { BaremetalNodeData } from '../schemas/baremetal-node.ts';
import type { Inherited } from './inherit.ts';
import type { ReportLayout } from './owned-value.ts';
import type { SiteDocument } from './site-document.ts';

/** Checks the out-of-band management as Drydock does. MAAS knows it already: nothing of it is used. */
export function checkOob(
  node: SiteDocument<BaremetalNodeData>,
  { oob }: Pick<Inherited, 'oob'>,
  report: ReportLayout,
): void {
  const wrong = (message: string, hint: string): void =>
    report(
      { document: node, path: ['data'] },
      { code: 'node.bad-oob', message: `oob of '${node.name}': ${message}`, hint },
    );
  if (oob.type === 'ipmi') {
    const missing = ['account', 'credential', 'network'].filter((key) => oob[key] === undefined || oob[key] === null);
    if (missing.length > 0)
      wrong(`ipmi needs ${missing.join(', ')}`, 'Add them to oob of the node or its host profile.');
    const at = node.data.addressing?.find(({ network }) => network === oob.network)?.address ?? '';
    if (oob.network !== undefined && isIP(at) === 0)
      wrong(`no address in its network '${String(oob.network)}'`, 'Add a fixed address of it to addressing.');
  }
  if (oob.type === 'libvirt') {
    if (typeof oob.libvirt_uri !== 'string' || !oob.libvirt_uri.startsWith('qemu+ssh'))
      wrong('libvirt needs a libvirt_uri that begins with qemu+ssh', 'Correct libvirt_uri.');
    if (node.data.metadata?.boot_mac === undefined) wrong('libvirt needs boot_mac', 'Add it to metadata of the node.');
  }
}
