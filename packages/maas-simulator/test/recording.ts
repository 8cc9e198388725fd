import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { simulatorKeys } from '../src/index.ts';
import type { Reply, SimulatedMaas } from './simulated-maas.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of a foreign API, looked into field by field.
type Json = any;

/** One step of a scenario: a request with its answer, or a report of a rack. */
export interface Step {
  readonly note: string;
  readonly rack_side_event?: string;
  readonly system_id?: string;
  readonly result?: { readonly status: number };
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly json?: Json;
    readonly text?: string;
  };
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

const folder = new URL('../../maas/test/data/', import.meta.url);

export function readScenarios(): Scenario[] {
  const files = readdirSync(folder).filter((file) => /^\d\d-.*\.json$/.test(file));
  return files.sort().map((file) => {
    const { steps } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { steps: Step[] };
    return { name: file.replace(/\.json$/, ''), steps: inOrder(steps) };
  });
}

/** Two concurrent clients were recorded in the order of their answers: the winner goes first here. */
function inOrder(steps: readonly Step[]): Step[] {
  const ordered = [...steps];
  for (let i = 0; i + 1 < ordered.length; i++) {
    const [a, b] = [ordered[i] as Step, ordered[i + 1] as Step];
    const [what, other] = [a, b].map(({ note }) => (note.includes(', client ') ? note.split(',')[0] : undefined));
    if (what !== undefined && what === other && (a.response?.status ?? 0) > (b.response?.status ?? 0)) {
      [ordered[i], ordered[i + 1]] = [b, a];
    }
  }
  return ordered;
}

const isMachine = (value: Json): boolean =>
  value !== null && typeof value === 'object' && 'system_id' in value && typeof value.hostname === 'string';

/** This server's ids for recorded ids. */
class Names {
  readonly #systemIds = new Map<string, string>();
  readonly #numbers = new Map<string, string>();

  learn(recorded: Json, live: Json): void {
    if (Array.isArray(recorded)) {
      if (!Array.isArray(live) || !recorded[0]?.mac_address) return;
      for (const [i, each] of recorded.entries()) this.learn(each, live[i]);
      return;
    }
    if (recorded === null || typeof recorded !== 'object' || live === null || typeof live !== 'object') return;
    if (isMachine(recorded)) this.learnMachine(recorded.system_id, live.system_id);
    const nics: Json[] = recorded.interface_set ?? [];
    for (const [i, nic] of nics.entries()) this.#learnNumber('interfaces', nic.id, live.interface_set?.[i]?.id);
    if (String(recorded.resource_uri).includes('resourcepool')) this.#learnNumber('resourcepool', recorded.id, live.id);
    const links: Json[] = recorded.links ?? [];
    for (const [i, link] of links.entries()) this.#learnNumber('link', link.id, live.links?.[i]?.id);
  }

  learnMachine(recorded: string, live: string): void {
    this.#systemIds.set(recorded, live);
  }

  #learnNumber(kind: string, recorded: unknown, live: unknown): void {
    if (live !== undefined) this.#numbers.set(`${kind} ${recorded}`, String(live));
  }

  text(text: string): string {
    let changed = text;
    for (const [recorded, live] of this.#systemIds) changed = changed.replaceAll(recorded, live);
    return changed;
  }

  url(url: string): string {
    return this.text(url).replace(/\/(interfaces|resourcepool)\/(\d+)/, (whole, kind: string, id: string) => {
      const live = this.#numbers.get(`${kind} ${id}`);
      return live === undefined ? whole : `/${kind}/${live}`;
    });
  }

  body(body: string, url: string): string {
    const named = this.text(body);
    if (!url.includes('unlink_subnet')) return named;
    return named.replace(/id=(\d+)/, (_whole, id: string) => `id=${this.#numbers.get(`link ${id}`) ?? id}`);
  }
}

const without = (text: string): string =>
  text
    .replace(/\d{6,}|[0-9a-f]{32}/g, 'N')
    .replace(/\s+/g, ' ')
    .trim();

/** Scenarios whose machines are all made by their own steps. */
const selfContained = ['01', '02', '08', '13'];

/** The simulator's region has more fabrics and spaces than the recorded one. */
const sameLength = (url: string, recorded: Json, live: Json): Json =>
  /(?:fabrics|spaces)\/$/.test(url) ? live.slice(0, recorded.length) : live;

/** Sends the requests of a scenario to a simulator and collects where the answers differ. */
export class Replay {
  readonly #maas: SimulatedMaas;
  readonly #scenario: Scenario;
  readonly #names = new Names();
  readonly #nonces = new Map<string, string>();

  constructor(maas: SimulatedMaas, scenario: Scenario) {
    this.#maas = maas;
    this.#scenario = scenario;
  }

  async run(): Promise<string[]> {
    await this.#setUp();
    const differences: string[] = [];
    for (const [i, step] of this.#scenario.steps.entries()) {
      const found = step.request ? await this.#exchange(step) : await this.#report(step, this.#reasonAfter(i));
      differences.push(...found.map((difference) => `step ${i + 1} «${step.note}»: ${difference}`));
    }
    return differences;
  }

  /** Makes the machines that the recording had before its first step. */
  async #setUp(): Promise<void> {
    const { name, steps } = this.#scenario;
    const number = name.slice(0, 2);
    await this.#maas.control('POST', 'reset');
    await this.#maas.control('POST', 'auto', { bmc_conflict: number === '13' });
    if (!selfContained.includes(number)) {
      const made = new Set<string>();
      const seen = new Map<string, Json>();
      for (const { note, response } of steps) {
        for (const each of [response?.json].flat())
          if (isMachine(each) && !seen.has(each.system_id)) seen.set(each.system_id, each);
        if (/^(create machine|non-admin creates a machine)/.test(note)) made.add(response?.json?.system_id);
      }
      for (const [recorded, machine] of seen) if (!made.has(recorded)) await this.#make(recorded, machine, number);
    }
    await this.#maas.control('POST', 'rack', { up: number !== '05' && number !== '12' });
  }

  async #make(recorded: string, { hostname, power_type }: Json, number: string): Promise<void> {
    const { json } = await this.#maas.control('POST', 'seed', {
      machines: [
        { hostname, power_type, power_state: 'unknown', status: number === '12' && hostname !== 'lost03' ? 6 : 4 },
      ],
    });
    this.#names.learnMachine(recorded, json[0]);
  }

  /** The reason of a failure as the recording shows it in the next read. */
  #reasonAfter(i: number): string | undefined {
    return this.#scenario.steps[i + 1]?.response?.json?.error_description;
  }

  async #report(step: Step, comment: string | undefined): Promise<string[]> {
    const id = this.#names.text(step.system_id ?? '');
    const { json } = await this.#maas.control('POST', `${id}/${step.rack_side_event}`, { comment });
    return json.status === step.result?.status ? [] : [`state ${json.status}, recorded ${step.result?.status}`];
  }

  async #exchange({ note, request, response }: Step): Promise<string[]> {
    if (!request || !response) return ['no request recorded'];
    const { Authorization: header, ...headers } = request.headers;
    const sent: Record<string, string> = headers;
    if (header !== undefined) sent.Authorization = this.#freshHeader(header, note);
    const origin = new URL(this.#maas.simulator.url).origin;
    const url = this.#names.url(request.url);
    const body = request.body === undefined ? undefined : this.#names.body(request.body, request.url);
    // `fetch` would tidy the `..` of one recorded path away.
    const reply = url.includes('/../')
      ? await this.#maas.send(request.method, origin + url.replace('..', '%2e%2e'), sent, body)
      : await this.#maas.send(request.method, origin + url, sent, body);
    this.#names.learn(response.json, reply.json);
    return this.#compare(response, reply, request.url);
  }

  /** The recorded header with a nonce and a time of now; its deliberate faults stay. */
  #freshHeader(recorded: string, note: string): string {
    const shift = note.includes('hour old') ? -3600 : note.includes('hour ahead') ? 3600 : 0;
    return recorded
      .replace(/oauth_nonce="([^"]*)"/, (_whole, nonce: string) => {
        if (!this.#nonces.has(nonce)) this.#nonces.set(nonce, randomUUID());
        return `oauth_nonce="${this.#nonces.get(nonce)}"`;
      })
      .replace(/oauth_timestamp="\d+"/, `oauth_timestamp="${Math.floor(this.#maas.clock.now() / 1000) + shift}"`);
  }

  #compare(recorded: NonNullable<Step['response']>, reply: Reply, url: string): string[] {
    if (reply.status !== recorded.status) return [`${reply.status} ${reply.text}, recorded ${recorded.status}`];
    const differences: string[] = [];
    const differ = (what: string, live: unknown, wanted: unknown): void => {
      const [a, b] = [JSON.stringify(live), JSON.stringify(wanted)];
      if (a !== b) differences.push(`${what} ${a}, recorded ${b}`);
    };
    for (const name of ['Content-Type', 'Retry-After', 'WWW-Authenticate', 'Allow', 'Vary', 'X-Maas-Api-Hash']) {
      differ(name, reply.headers.get(name) ?? undefined, recorded.headers[name]);
    }
    if (url.includes('regioncontrollers') || url.includes('/../')) return differences;
    if ('json' in recorded)
      this.#compareJson(recorded.json, sameLength(url, recorded.json, reply.json), recorded.status, differ);
    else if (recorded.status === 401) {
      const start = (text: string): string => text.split("'").slice(0, 2).join("'").slice(0, 38);
      if (!recorded.text?.includes('signature base')) differ('text', start(reply.text), start(recorded.text ?? ''));
    } else if (!recorded.headers['Content-Type']?.includes('html')) {
      differ('text', without(reply.text), without(this.#names.text(recorded.text ?? '')));
    }
    return differences;
  }

  #compareJson(
    recorded: Json,
    live: Json,
    status: number,
    differ: (what: string, a: unknown, b: unknown) => void,
  ): void {
    if (status >= 400) {
      differ('errors', live, recorded);
      return;
    }
    if (isMachine(recorded)) {
      differ('fields', Object.keys(live).sort(), Object.keys(recorded).sort());
      for (const field of machineFields) differ(field, live[field], recorded[field]);
      // The recorded machines had no addresses that were found on them.
      const given = live.interface_set.flatMap(({ links }: Json) => links.filter((link: Json) => link.ip_address));
      differ('addresses', given.length, recorded.ip_addresses.length);
      return;
    }
    if (Array.isArray(recorded)) {
      differ('length', live.length, recorded.length);
      if (isMachine(recorded[0])) {
        differ(
          'machines',
          live.map(({ hostname }: Json) => hostname).sort(),
          recorded.map(({ hostname }) => hostname).sort(),
        );
      } else if (recorded[0] && !recorded[0].results) {
        differ('fields', Object.keys(live[0]).sort(), Object.keys(recorded[0]).sort());
      }
      return;
    }
    if (recorded === null || typeof recorded !== 'object') differ('value', live, recorded);
    else if (Object.keys(recorded).length <= 3) differ('value', live, recorded);
    else differ('fields', Object.keys(live).sort(), Object.keys(recorded).sort());
  }
}

/** Fields of a machine that a client reads and that do not depend on the recording's hour or hardware. */
const machineFields = [
  'hostname',
  'fqdn',
  'status',
  'status_name',
  'owner',
  'owner_data',
  'workload_annotations',
  'locked',
  'tag_names',
  'power_type',
  'osystem',
  'distro_series',
  'hwe_kernel',
  'architecture',
  'description',
  'error_description',
  'status_message',
  'ephemeral_deploy',
  'netboot',
  'node_type',
] as const;

export { simulatorKeys };
