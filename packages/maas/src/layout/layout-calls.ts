import { type MaasConnection, segment } from '../connection.ts';
import { isMaasFailure } from '../failure.ts';
import { InventoryCalls, type Tag } from '../inventory-calls.ts';
import { asObject } from '../lenient.ts';
import { parseMachine } from '../machine.ts';
import { chunks, unexpectedAnswer } from '../machine-calls.ts';
import type { WholeMachine } from '../machine-state.ts';
import {
  type AddressRange,
  alteredBy,
  type Disk,
  type Hardware,
  type Interface,
  type LayoutChange,
  parseDisks,
  parseGroup,
  parseHardware,
  parseInterface,
  parseRange,
  parseSubnet,
  parseUsedAddress,
  parseVlans,
  type UsedAddress,
  type VolumeGroup,
} from './hardware.ts';
import { parseSubnetSettings, type SubnetChange, type SubnetSettings } from './subnet-settings.ts';
import type { MaasNetworks } from './target-interfaces.ts';

/** Interfaces and disks of machines, and the networks they can be on. */
export class LayoutCalls {
  readonly #maas: MaasConnection;
  readonly #inventory: InventoryCalls;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
    this.#inventory = new InventoryCalls(maas);
  }

  async interfaces(systemId: string, signal?: AbortSignal): Promise<readonly Interface[]> {
    return (await this.#maas.list(`nodes/${segment(systemId)}/interfaces/`, { signal })).map(parseInterface);
  }

  async disks(systemId: string, signal?: AbortSignal): Promise<readonly Disk[]> {
    return parseDisks(await this.#maas.list(`nodes/${segment(systemId)}/blockdevices/`, { signal }));
  }

  async groups(systemId: string, signal?: AbortSignal): Promise<readonly VolumeGroup[]> {
    return (await this.#maas.list(`nodes/${segment(systemId)}/volume-groups/`, { signal })).map(parseGroup);
  }

  async hardware(systemId: string, signal?: AbortSignal): Promise<Hardware> {
    return this.withGroups((await this.whole(systemId, signal)).hardware, signal);
  }

  async withGroups(hardware: Hardware, signal?: AbortSignal): Promise<Hardware> {
    return hardware.hasGroups ? { ...hardware, groups: await this.groups(hardware.systemId, signal) } : hardware;
  }

  /** A reading again, of what a change can have altered; undefined if only the whole machine shows that. */
  async hardwareAfter(change: LayoutChange, before: Hardware, signal?: AbortSignal): Promise<Hardware | undefined> {
    const parts = alteredBy(change, before);
    if (!parts) return undefined;
    const read = await Promise.all(parts.map(async (part) => ({ [part]: await this[part](before.systemId, signal) })));
    return Object.assign({ ...before }, ...read) as Hardware;
  }

  /** A machine with its interfaces and disks, but not the logical volumes. */
  async whole(systemId: string, signal?: AbortSignal, urgent?: boolean): Promise<WholeMachine> {
    const answer = await this.#maas.object(`machines/${segment(systemId)}/`, { signal, urgent });
    const whole = wholeMachine(answer);
    if (!whole) throw unexpectedAnswer(`GET machines/${systemId}/`, 'is not a machine');
    return whole;
  }

  /** As `whole`, with kernel options. */
  async machine(systemId: string, signal?: AbortSignal): Promise<WholeMachine> {
    const whole = await this.whole(systemId, signal);
    const tags = await Promise.all(whole.machine.tags.map((tag) => this.#inventory.findTag(tag, signal)));
    return { ...whole, kernelOptions: Object.fromEntries(kernelOptionsOf(tags)) };
  }

  /** Those of these machines that MAAS has; one request for a hundred, and one for all tags. */
  async machines(systemIds: readonly string[], signal?: AbortSignal): Promise<readonly WholeMachine[]> {
    const found: WholeMachine[] = [];
    for (const id of chunks(systemIds)) {
      for (const item of await this.#maas.list('machines/', { query: { id }, signal })) {
        const whole = wholeMachine(item);
        if (whole) found.push(whole);
      }
    }
    if (found.every(({ machine }) => machine.tags.length === 0))
      return found.map((one) => ({ ...one, kernelOptions: {} }));
    const options = kernelOptionsOf(await this.#inventory.tags(signal));
    return found.map((one) => ({
      ...one,
      kernelOptions: Object.fromEntries(options.filter(([tag]) => one.machine.tags.includes(tag))),
    }));
  }

  async networks(signal?: AbortSignal): Promise<MaasNetworks> {
    const [subnets, fabrics] = await Promise.all(
      ['subnets/', 'fabrics/'].map((path) => this.#maas.list(path, { signal })),
    );
    return { subnets: (subnets ?? []).map(parseSubnet), vlans: (fabrics ?? []).flatMap(parseVlans) };
  }

  async ranges(signal?: AbortSignal): Promise<readonly AddressRange[]> {
    return (await this.#maas.list('ipranges/', { signal })).map(parseRange);
  }

  /** Empty if MAAS does not show it to this user. */
  async usedAddresses(subnet: number, signal?: AbortSignal): Promise<readonly UsedAddress[]> {
    try {
      const query = { op: 'ip_addresses' };
      return (await this.#maas.list(`subnets/${segment(subnet)}/`, { query, signal })).map(parseUsedAddress);
    } catch (error) {
      if (!isMaasFailure(error, 'forbidden', 'no-such-endpoint')) throw error;
      return [];
    }
  }

  async subnetSettings(signal?: AbortSignal): Promise<SubnetSettings> {
    const subnets = await this.#maas.list('subnets/', { signal });
    const routes = await this.#maas.list('static-routes/', { signal });
    return parseSubnetSettings(subnets, routes, await this.#maas.list('ipranges/', { signal }));
  }

  /** Sent exactly once: read before it is sent again. */
  async sendToSubnet({ method, path, form }: SubnetChange, signal?: AbortSignal): Promise<void> {
    await this.#maas[method](path, { form, signal });
  }

  /** Sent exactly once: read before it is sent again. */
  async send(systemId: string, change: LayoutChange, signal?: AbortSignal): Promise<unknown> {
    const { method, path, op, form } = change;
    const options = { ...(op !== undefined && { query: { op } }), ...(form !== undefined && { form }), signal };
    return this.#maas[method](`nodes/${segment(systemId)}/${path}`, options);
  }
}

function wholeMachine(answer: unknown): WholeMachine | undefined {
  const machine = parseMachine(answer);
  return machine && { machine, hardware: parseHardware(asObject(answer), []) };
}

const kernelOptionsOf = (tags: readonly (Tag | undefined)[]): readonly (readonly [string, string])[] =>
  tags.flatMap((tag) =>
    tag === undefined || tag.kernelOptions === '' ? [] : [[tag.name, tag.kernelOptions] as const],
  );
