import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { canonicalAddress } from '../src/network/ip.ts';
import type { Reply, SimulatedMaas } from './simulated-maas.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a foreign API, looked into field by field.
type Json = any;

/** A scenario on machines as commissioning leaves them: its networks, machines and ids, with requests and answers. */
export interface LayoutScenario {
  readonly name: string;
  readonly start: {
    readonly networks: readonly {
      readonly fabric: string;
      readonly vid: number;
      readonly name: string;
      readonly cidr: string;
      readonly gateway?: string;
    }[];
    readonly ranges: readonly Readonly<Record<string, string>>[];
    readonly machines: readonly object[];
    readonly ids: Json;
  };
  readonly steps: readonly LayoutStep[];
}

interface LayoutStep {
  readonly note: string;
  readonly wait_s?: number;
  readonly rack_side_event?: string;
  readonly system_id?: string;
  readonly result?: { readonly status: number };
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response?: { readonly status: number; readonly json?: Json; readonly text?: string };
}

const folder = new URL('../../maas/test/data/layouts/', import.meta.url);

export function readLayoutScenario(name: string): LayoutScenario {
  const text = gunzipSync(readFileSync(new URL(`${name}.json.gz`, folder))).toString('utf8');
  return { name, ...(JSON.parse(text) as Omit<LayoutScenario, 'name'>) };
}

export const layoutScenarios = (): string[] =>
  readdirSync(folder)
    .flatMap((file) => /^(.+)\.json\.gz$/.exec(file)?.[1] ?? [])
    .sort();

const kinds =
  'interfaces|blockdevices|partition|volume-group|raid|bcache-cache-set|bcache|fabrics|subnets|ipranges|spaces|resourcepool|zones|domains|static-routes|vlans';

/** Which kind of id a field of a form has. */
const kindOfField: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['vlan'].map((name) => [name, 'vlans'])),
  ...Object.fromEntries(['subnet', 'source', 'destination'].map((name) => [name, 'subnets'])),
  ...Object.fromEntries(['parent', 'parents'].map((name) => [name, 'interfaces'])),
  ...Object.fromEntries(
    'block_devices spare_devices add_block_devices remove_block_devices backing_device cache_device root_device'
      .split(' ')
      .map((name) => [name, 'blockdevices']),
  ),
  ...Object.fromEntries(
    'partitions spare_partitions add_partitions remove_partitions backing_partition cache_partition'
      .split(' ')
      .map((name) => [name, 'partition']),
  ),
  link_id: 'link',
  cache_set: 'bcache-cache-set',
  fabric: 'fabrics',
  space: 'spaces',
  system_id: 'machine',
  add: 'machine',
  remove: 'machine',
};

/** The fields that a client reads. */
const read = new Set(
  (
    'name type mac_address effective_mtu params parents children links mode ip_address vlan vid mtu subnet cidr gateway_ip dns_servers ' +
    'discovered enabled link_connected size available_size used_size used_for partition_table_type partitions bootable filesystem ' +
    'fstype label mount_point mount_options level virtual_device logical_volumes devices spare_devices cache_mode backing_device ' +
    'cache_device cache_set start_ip end_ip comment purpose hostname status status_name locked owner owner_data pool zone domain ' +
    'power_type boot_disk boot_interface default_gateways ipv4 ipv6 interface_set blockdevice_set volume_groups raids bcaches ' +
    'special_filesystems tag_names osystem distro_series class_type vlans fabric definition kernel_opts metric source destination ip ' +
    'added removed space block_size architecture description'
  ).split(' '),
);

const isObject = (value: Json): boolean => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Items of two lists that mean the same: by a field that differs among them, else in order. */
function pairs(recorded: Json[], live: Json[]): [Json, Json][] {
  for (const key of ['name', 'cidr', 'start_ip', 'vid', 'hostname', 'ip']) {
    const names = recorded.map((item) => (isObject(item) ? item[key] : undefined));
    if (recorded.length === 0 || names.some((name) => name == null) || new Set(names).size < names.length) continue;
    return recorded.flatMap((item): [Json, Json][] => {
      const found = live.find((other) => isObject(other) && other[key] === item[key]);
      return found === undefined ? [] : [[item, found]];
    });
  }
  return recorded.slice(0, live.length).map((item, i) => [item, live[i]]);
}

const byMode = (a: Json, b: Json): number =>
  `${a.mode} ${a.subnet?.cidr ?? ''}`.localeCompare(`${b.mode} ${b.subnet?.cidr ?? ''}`) || a.id - b.id;

/** Live ids by kind and recorded id. */
class Ids {
  readonly #live = new Map<string, string>();

  set(kind: string, recorded: unknown, live: unknown): void {
    if (recorded != null && live != null) this.#live.set(`${kind} ${recorded}`, String(live));
  }

  get(kind: string, recorded: string): string {
    return this.#live.get(`${kind} ${recorded}`) ?? recorded;
  }

  get machines(): [string, string][] {
    return [...this.#live].flatMap(([key, live]): [string, string][] =>
      key.startsWith('machine ') ? [[key.slice('machine '.length), live]] : [],
    );
  }

  learn(recorded: Json, live: Json): void {
    if (Array.isArray(recorded) && Array.isArray(live)) {
      for (const [a, b] of pairs(recorded, live)) this.learn(a, b);
    } else if (isObject(recorded) && isObject(live)) this.#learnObject(recorded, live);
  }

  #learnObject(recorded: Json, live: Json): void {
    this.set('machine', recorded.system_id, live.system_id);
    const last = (uri: unknown): string[] | undefined =>
      [...String(uri ?? '').matchAll(new RegExp(`/(${kinds})/(\\d+)`, 'g'))].at(-1)?.slice(1);
    const [a, b] = [last(recorded.resource_uri), last(live.resource_uri)];
    if (a && b && a[0] === b[0]) this.set(a[0] as string, a[1], b[1]);
    for (const [key, value] of Object.entries(recorded)) {
      if (key !== 'links' || !Array.isArray(live.links)) {
        this.learn(value, live[key]);
        continue;
      }
      const others = [...live.links].sort(byMode);
      for (const [i, link] of [...(value as Json[])].sort(byMode).entries()) {
        this.set('link', link.id, others[i]?.id);
        this.learn(link, others[i]);
      }
    }
  }

  url(url: string): string {
    const [path = '', query] = url.split('?');
    const withMachines = this.machines.reduce((text, [from, to]) => text.replaceAll(from, to), path);
    const changed = withMachines.replace(new RegExp(`/(${kinds})/(\\d+)`, 'g'), (whole, kind: string, id: string) =>
      kind === 'vlans' ? whole : `/${kind}/${this.get(kind, id)}`,
    );
    return query === undefined ? changed : `${changed}?${query}`;
  }

  body(url: string, body: string): string {
    const fields = [...new URLSearchParams(body)].map(([name, value]): [string, string] => {
      const kind = name === 'id' ? (url.includes('unlink_subnet') ? 'link' : 'blockdevices') : kindOfField[name];
      return [name, kind === undefined ? value : this.get(kind, value)];
    });
    return new URLSearchParams(fields).toString();
  }

  /** An error's text without ids, and with its choices in one order. */
  flat(text: string): string {
    const plain = this.machines.reduce((sum, ids) => ids.reduce((one, id) => one.replaceAll(id, 'SID'), sum), text);
    return plain
      .replace(/(?<=one of: )'[^\]"]*/g, (list) => `${list.replace(/\.+$/, '').split(', ').sort().join(', ')}.`)
      .replace(/'\d+'|(?<=id=)\d+|(?<=choice\. )\d+|fabric-\d+/g, 'N')
      .replace(/\s+/g, ' ')
      .trim();
  }
}

const sortedKeys = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(sortedKeys)
    : isObject(value)
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, sortedKeys(value[key])]),
        )
      : value;

/** The parts of an answer that a client reads. Addresses that MAAS chose count as equal. */
function view(value: Json, asked: ReadonlySet<string>, key = ''): Json {
  if (Array.isArray(value)) {
    const texts = value.map((item) => JSON.stringify(sortedKeys(view(item, asked, key))));
    return texts.sort().map((text) => JSON.parse(text));
  }
  if (isObject(value)) {
    const shown = Object.entries(value).filter(
      ([name, item]) =>
        read.has(name) ||
        key === 'params' ||
        key === 'owner_data' ||
        (name === 'uuid' && asked.has(String(item).toLowerCase())),
    );
    return Object.fromEntries(shown.map(([name, item]) => [name, view(item, asked, name)]));
  }
  if (['ip_address', 'ip'].includes(key) && value !== null) {
    const address = canonicalAddress(String(value)) ?? String(value);
    return asked.has(address) ? address : 'an address';
  }
  if ((key === 'name' || key === 'fabric') && typeof value === 'string')
    return value.replace(/^fabric-\d+$/, 'fabric-N');
  return value;
}

function differences(recorded: Json, live: Json, at = ''): string[] {
  if (isObject(recorded) && isObject(live)) {
    return Object.keys(recorded).flatMap((key) => differences(recorded[key], live[key], `${at}.${key}`));
  }
  if (Array.isArray(recorded) && Array.isArray(live)) {
    if (recorded.length !== live.length) return [`${at}: ${live.length} items, recorded ${recorded.length}`];
    return recorded.flatMap((item, i) => differences(item, live[i], `${at}[${i}]`));
  }
  return recorded === live ? [] : [`${at} ${JSON.stringify(live)}, recorded ${JSON.stringify(recorded)}`];
}

const openLists = /(?:fabrics|subnets|spaces)\/$/;

/** Sends a scenario to a simulator and collects where the answers differ, by the rules of `shared/maas/replay.py`. */
export class LayoutReplay {
  readonly #maas: SimulatedMaas;
  readonly #scenario: LayoutScenario;
  readonly #ids = new Ids();
  readonly #asked: ReadonlySet<string>;

  constructor(maas: SimulatedMaas, scenario: LayoutScenario) {
    this.#maas = maas;
    this.#scenario = scenario;
    const bodies = scenario.steps.map(({ request }) => decodeURIComponent((request?.body ?? '').replaceAll('+', ' ')));
    const words = [JSON.stringify(scenario.start), ...bodies].join(' ');
    const addresses = (words.match(/[0-9A-Fa-f:.]{2,}/g) ?? []).filter((word) => isIP(word) > 0);
    const uuids = words.match(/[0-9A-Fa-f-]{32,36}/g) ?? [];
    this.#asked = new Set([
      ...addresses.map((address) => canonicalAddress(address) ?? address),
      ...uuids.map((uuid) => uuid.toLowerCase()),
    ]);
  }

  async run(): Promise<string[]> {
    await this.#prepare();
    const found: string[] = [];
    for (const [i, step] of this.#scenario.steps.entries()) {
      const differ = step.request ? await this.#exchange(step) : await this.#report(step);
      found.push(...differ.map((text) => `step ${i + 1} «${step.note}»: ${text}`));
    }
    return found;
  }

  async #list(path: string): Promise<Json[]> {
    return (await this.#maas.api('GET', path)).json;
  }

  async #prepare(): Promise<void> {
    const { networks, ranges, machines } = this.#scenario.start;
    await this.#maas.control('POST', 'reset');
    const fabrics = new Map<string, Json>((await this.#list('fabrics/')).map((fabric) => [fabric.name, fabric]));
    for (const { fabric: name, vid, ...subnet } of networks) {
      const fabric = fabrics.get(name) ?? (await this.#maas.api('POST', 'fabrics/', { name })).json;
      fabrics.set(name, fabric);
      const path = `fabrics/${fabric.id}/vlans/`;
      const known = fabric.vlans.find((vlan: Json) => vlan.vid === vid);
      const vlan = known ?? (await this.#maas.api('POST', path, { vid: String(vid), name: `vlan${vid}` })).json;
      if (!known) fabric.vlans.push(vlan);
      const gateway = subnet.gateway === undefined ? {} : { gateway_ip: subnet.gateway };
      await this.#maas.api('POST', 'subnets/', {
        name: subnet.name,
        cidr: subnet.cidr,
        vlan: String(vlan.id),
        ...gateway,
      });
    }
    for (const { subnet: _subnet, ...range } of ranges) await this.#maas.api('POST', 'ipranges/', range);
    const { status, text } = await this.#maas.control('POST', 'seed', { machines });
    if (status !== 200) throw new Error(`${this.#scenario.name}: ${text}`);
    await this.#learnStart();
  }

  /** The ids of the start, recorded and here. */
  async #learnStart(): Promise<void> {
    const { networks, ids } = this.#scenario.start;
    for (const subnet of await this.#list('subnets/')) {
      this.#ids.set('subnets', ids.subnets[subnet.cidr], subnet.id);
      const network = networks.find(({ cidr }) => cidr === subnet.cidr);
      if (!network) continue;
      const vlan = ids.vlans.find(({ fabric, vid }: Json) => fabric === network.fabric && vid === network.vid);
      this.#ids.set('vlans', vlan?.id, subnet.vlan.id);
      this.#ids.set('fabrics', ids.fabrics[network.fabric], subnet.vlan.fabric_id);
    }
    for (const range of await this.#list('ipranges/'))
      this.#ids.set('ipranges', ids.ipranges[range.start_ip], range.id);
    for (const machine of await this.#list('machines/')) this.#learnMachine(ids.machines[machine.hostname], machine);
  }

  #learnMachine(recorded: Json, live: Json): void {
    this.#ids.set('machine', recorded.system_id, live.system_id);
    const sorted = (items: Json[]): Json[] => [...items].sort((a, b) => a - b);
    for (const nic of live.interface_set) {
      const { id, vlan, links } = recorded.interfaces[nic.name];
      this.#ids.set('interfaces', id, nic.id);
      this.#ids.set('vlans', vlan, nic.vlan?.id);
      const own = sorted(nic.links.map((link: Json) => link.id));
      for (const [i, link] of sorted(links).entries()) this.#ids.set('link', link, own[i]);
    }
    for (const disk of live.blockdevice_set) {
      const { id, partitions } = recorded.blockdevices[disk.name];
      this.#ids.set('blockdevices', id, disk.id);
      const own = sorted(disk.partitions.map((partition: Json) => partition.id));
      for (const [i, partition] of sorted(partitions).entries()) this.#ids.set('partition', partition, own[i]);
    }
  }

  async #report(step: LayoutStep): Promise<string[]> {
    const id = this.#ids.get('machine', step.system_id ?? '');
    const { json } = await this.#maas.control('POST', `${id}/${step.rack_side_event}`, {});
    return json.status === step.result?.status ? [] : [`state ${json.status}, recorded ${step.result?.status}`];
  }

  async #exchange({ request, response, wait_s }: LayoutStep): Promise<string[]> {
    if (!request || !response) return ['no request recorded'];
    if (wait_s !== undefined) this.#maas.clock.advance(wait_s * 1000);
    const { Authorization: header = '', ...headers } = request.headers;
    const fresh = header
      .replace(/oauth_nonce="[^"]*"/, `oauth_nonce="${randomUUID()}"`)
      .replace(/oauth_timestamp="\d+"/, `oauth_timestamp="${Math.floor(this.#maas.clock.now() / 1000)}"`);
    const url = new URL(this.#maas.simulator.url).origin + this.#ids.url(request.url);
    const body = request.body === undefined ? undefined : this.#ids.body(request.url, request.body);
    const reply = await this.#maas.send(request.method, url, { ...headers, Authorization: fresh }, body);
    this.#ids.learn(response.json, reply.json);
    return this.#compare(request.url, response, reply);
  }

  #compare(url: string, recorded: NonNullable<LayoutStep['response']>, reply: Reply): string[] {
    if (reply.status !== recorded.status) return [`status ${reply.status}, recorded ${recorded.status}: ${reply.text}`];
    if (reply.status >= 500 || reply.status === 204) return [];
    if (reply.status >= 400 || !('json' in recorded)) {
      const texts = [recorded, reply].map(({ json, text }) =>
        this.#ids.flat('json' in recorded ? JSON.stringify(sortedKeys(json)) : (text ?? '')),
      );
      return texts[0] === texts[1] ? [] : [`text ${texts[1]}, recorded ${texts[0]}`];
    }
    if (!Array.isArray(recorded.json) || !openLists.test(url.split('?')[0] ?? '')) {
      return differences(view(recorded.json, this.#asked), view(reply.json, this.#asked));
    }
    // These lists may have more than the recorded entries.
    const named = (items: Json[]): Json[] => items.filter(({ name }) => !/^fabric-\d+$/.test(name));
    const both = pairs(named(recorded.json), named(reply.json));
    const wanted = named(recorded.json).length;
    if (both.length !== wanted) return [`${both.length} of ${wanted} recorded items found`];
    return differences(
      view(
        both.map(([item]) => item),
        this.#asked,
      ),
      view(
        both.map(([, item]) => item),
        this.#asked,
      ),
    );
  }
}
