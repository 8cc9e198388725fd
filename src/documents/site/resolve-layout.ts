import { isIP } from 'node:net';
import type { DeviceReference, MachineLayout } from '@sitewright/maas/machine-layout';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { BaremetalNodeData } from '../schemas/baremetal-node.ts';
import type { HardwareProfileData, NetworkData, NetworkLinkData } from '../schemas/machine-layout.ts';
import type { Inherited } from './inherit.ts';
import type { ReportLayout } from './owned-value.ts';
import { resolveKernelOptions } from './resolve-kernel-options.ts';
import { PortResolver, type PortsOfSite } from './resolve-ports.ts';
import { resolveStorage } from './resolve-storage.ts';
import type { NamedDocuments, SiteDocument } from './site-document.ts';

interface LayoutDocuments {
  readonly links: NamedDocuments<NetworkLinkData>;
  readonly networks: NamedDocuments<NetworkData>;
  readonly hardware: NamedDocuments<HardwareProfileData>;
  /** Some documents could not be read: one that seems missing may be among them. */
  readonly isIncomplete: boolean;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** Converts interfaces, disks and kernel options of documents into the configuration for MAAS. Reports each problem once. */
export class LayoutResolver {
  readonly #documents: LayoutDocuments;
  readonly #reported = new Set<string>();
  readonly #portsOfSite: PortsOfSite;

  constructor(documents: LayoutDocuments) {
    this.#documents = documents;
    const { links, networks } = documents;
    this.#portsOfSite = { links, networks, find: this.#find, report: this.#report, addresses: new Map() };
  }

  resolve(node: SiteDocument<BaremetalNodeData>, described: Inherited): MachineLayout | undefined {
    const { interfaces, devices, groups } = described;
    // What Drydock itself is to deploy is checked as strictly as it would.
    const { oob } = described;
    const isManaged =
      typeof oob.type === 'string' || (Object.keys(oob).length > 0 && this.#documents.hardware.names.length > 0);
    const hardware = this.#hardware(node, described.hardwareProfile, isManaged);
    const aliases = new Map(
      Object.entries(hardware?.device_aliases ?? {}).map(([alias, { address, bus_type: bus = 'pci' }]) => [
        alias,
        `${bus.toLowerCase()}@${address.toLowerCase()}`,
      ]),
    );
    const device = (name: string): DeviceReference => {
      const address = aliases.get(name);
      return { name, ...(address !== undefined && { address }) };
    };
    const resolver = new PortResolver(this.#portsOfSite, { document: node, described, device });
    const made = interfaces && resolver.resolve(interfaces);
    const ports = made && made.length > 0 ? made : undefined;
    const storage =
      devices && devices.size > 0
        ? resolveStorage(
            { name: node.name, isManaged, device, report: this.#report },
            { devices, groups: groups ?? new Map() },
          )
        : undefined;
    if (!storage && isManaged) {
      this.#report(
        { document: node, path: ['data'] },
        {
          code: 'node.bad-storage',
          message: `'${node.name}' has no partition for the root filesystem (DD1001)`,
          hint: 'Describe a partition named root, of 20 GB or more, under storage of it or of its host profile.',
        },
      );
    }
    checkOob(node, described, this.#report);
    if (!devices?.size && groups) {
      for (const [name, group] of groups) {
        this.#report(group, {
          code: 'node.bad-storage',
          message: `no disk or partition belongs to the volume group '${name}'`,
          hint: `Name it as volume_group of a device under storage.physical_devices.`,
        });
      }
    }
    const kernelOptions =
      described.kernelParams && resolveKernelOptions(described.kernelParams, hardware, this.#report, node.name);
    if (!ports && !storage && !kernelOptions) return undefined;
    return {
      ...(ports && { ports }),
      ...(ports && resolver.untouched.size > 0 && { untouched: [...resolver.untouched] }),
      ...(storage && { storage }),
      ...(kernelOptions && { kernelOptions }),
    };
  }

  #hardware(
    document: SiteDocument,
    name: string | null | undefined,
    isManaged: boolean,
  ): HardwareProfileData | undefined {
    const { hardware } = this.#documents;
    if (!name) {
      if (isManaged)
        this.#report(
          { document, path: ['data'] },
          {
            code: 'node.unknown-hardware-profile',
            message: `'${document.name}' has no hardware profile`,
            hint: 'Name one as hardware_profile, in its own document or in its host profile.',
          },
        );
      return undefined;
    }
    const profile = this.#find(this.#documents.hardware, name);
    // Without any documents of hardware, names of devices are those of MAAS.
    if (profile === 'unknown' && (hardware.names.length > 0 || isManaged)) {
      this.#report(
        { document, path: ['data', 'hardware_profile'] },
        {
          code: 'node.unknown-hardware-profile',
          message: `there is no hardware profile '${name}', which '${document.name}' has`,
          hint: didYouMean(name, hardware.names) ?? 'Add its drydock/HardwareProfile/v1 document.',
        },
      );
    }
    return typeof profile === 'string' ? undefined : profile.data;
  }

  /** `invalid`: it has been reported, or may be in a file that could not be read. */
  readonly #find: PortsOfSite['find'] = ({ checked, names }, name) =>
    checked.get(name) ?? (this.#documents.isIncomplete || names.includes(name) ? 'invalid' : 'unknown');

  /** Nodes share profiles: their problems are reported once. */
  readonly #report: ReportLayout = ({ document, path }, { under = [], ...problem }) => {
    const finding = { ...problem, path: [...path, ...under] };
    const key = JSON.stringify([document.schema, document.name, finding.path, problem.message]);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#documents.report(placeProblem(document.yaml, finding));
  };
}

/** Checks the out-of-band management as Drydock does. MAAS knows it already: nothing of it is used. */
function checkOob(node: SiteDocument<BaremetalNodeData>, { oob }: Pick<Inherited, 'oob'>, report: ReportLayout): void {
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
