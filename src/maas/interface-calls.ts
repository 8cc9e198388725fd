import { type MaasConnection, segment } from './connection.js';
import { isMaasFailure, MaasError } from './failure.js';
import { asList, asNumber, asObject, asText } from './lenient.js';

export interface InterfaceLink {
  readonly id: number;
  /** Lower case: `auto`, `dhcp`, `static`, `link_up`. */
  readonly mode: string;
  readonly subnetId: number | undefined;
  readonly ipAddress: string;
}
export interface Interface {
  readonly id: number;
  readonly name: string;
  readonly macAddress: string;
  readonly vlanId: number | undefined;
  readonly links: readonly InterfaceLink[];
}
export interface WantedLink {
  readonly mode: 'AUTO' | 'DHCP' | 'STATIC' | 'LINK_UP';
  /** Needed for all but LINK_UP. */
  readonly subnetId?: number;
  readonly ipAddress?: string;
  readonly defaultGateway?: boolean;
}

/** Network interfaces of a machine and their links to subnets. */
export class InterfaceCalls {
  readonly #maas: MaasConnection;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
  }

  async list(systemId: string, signal?: AbortSignal): Promise<readonly Interface[]> {
    return (await this.#maas.list(`nodes/${segment(systemId)}/interfaces/`, { signal })).map(parseInterface);
  }

  async read(systemId: string, interfaceId: number, signal?: AbortSignal): Promise<Interface> {
    return parseInterface(await this.#maas.object(pathOf(systemId, interfaceId), { signal }));
  }

  /** Puts an interface on a VLAN (`vlanId` is MAAS' id, not the VLAN number). */
  async setVlan(systemId: string, interfaceId: number, vlanId: number, signal?: AbortSignal): Promise<Interface> {
    return parseInterface(await this.#maas.put(pathOf(systemId, interfaceId), { form: { vlan: vlanId }, signal }));
  }

  /**
   * Links an interface to a subnet unless that link exists. MAAS adds a second link, and a
   * second address at deployment, for each `link_subnet`; so the links are read before, and again when
   * the answer was lost.
   * @returns whether a link was added.
   */
  async ensureLink(
    systemId: string,
    interfaceId: number,
    wanted: WantedLink,
    signal?: AbortSignal,
  ): Promise<{ added: boolean }> {
    const isThere = async () =>
      (await this.read(systemId, interfaceId, signal)).links.some((link) => fits(link, wanted));
    if (await isThere()) return { added: false };
    const form = {
      mode: wanted.mode,
      subnet: wanted.subnetId,
      ip_address: wanted.ipAddress,
      default_gateway: wanted.defaultGateway,
    };
    try {
      await this.#maas.post(pathOf(systemId, interfaceId), { query: { op: 'link_subnet' }, form, signal });
    } catch (error) {
      if (!(error instanceof MaasError) || isMaasFailure(error, 'unauthorised', 'unreachable')) throw error;
      if (!(await isThere())) throw error;
    }
    return { added: true };
  }

  async unlink(systemId: string, interfaceId: number, linkId: number, signal?: AbortSignal): Promise<void> {
    const options = { query: { op: 'unlink_subnet' }, form: { id: linkId }, signal };
    await this.#maas.post(pathOf(systemId, interfaceId), options);
  }
}

const pathOf = (systemId: string, interfaceId: number): string =>
  `nodes/${segment(systemId)}/interfaces/${segment(interfaceId)}/`;

function fits(link: InterfaceLink, wanted: WantedLink): boolean {
  return (
    link.mode === wanted.mode.toLowerCase() &&
    (wanted.subnetId === undefined || link.subnetId === wanted.subnetId) &&
    (wanted.ipAddress === undefined || link.ipAddress === wanted.ipAddress)
  );
}

function parseInterface(value: unknown): Interface {
  const o = asObject(value);
  return {
    id: asNumber(o.id) ?? -1,
    name: asText(o.name),
    macAddress: asText(o.mac_address).toLowerCase(),
    vlanId: asNumber(asObject(o.vlan).id),
    links: asList(o.links).map((item) => {
      const link = asObject(item);
      return {
        id: asNumber(link.id) ?? -1,
        mode: asText(link.mode).toLowerCase(),
        subnetId: asNumber(asObject(link.subnet).id),
        ipAddress: asText(link.ip_address),
      };
    }),
  };
}
