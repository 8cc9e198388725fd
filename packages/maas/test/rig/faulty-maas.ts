import type { Clock } from '../../src/clock.ts';
import { type HttpAnswer, type HttpRequest, type Transport, TransportError } from '../../src/transport.ts';

/** The effect of a fault on one request. */
export type Fault =
  | 'drop_before'
  | 'drop_after'
  | 'timeout_after'
  | '504_after'
  | '500'
  | '502'
  | '503'
  | '503retry'
  | '409html'
  | 'doubled'
  /** Doubled on its way; the second one finds its nonce used, and that is the answer. */
  | 'doubled_nonce'
  | 'delayed'
  /** The requesting process dies: the request is carried out or not, and its answer is lost. */
  | 'kill_before'
  | 'kill_after';

export interface FakeMachine {
  readonly system_id: string;
  hostname: string;
  status: number;
  owner: string | null;
  owner_data: Record<string, string>;
  /** Not shown, as by MAAS. */
  agent: string;
  locked: boolean;
  osystem: string;
  distro_series: string;
  error_description: string;
  mac: string;
  domain: string;
  /** Where an in-progress state ends, and when. */
  ends?: { at: number; status: number } | undefined;
  commissioned: boolean;
}

export interface Effect {
  readonly system_id: string;
  readonly what: 'commission' | 'test' | 'allocate' | 'annotate' | 'deploy' | 'release' | 'abort';
}

export interface FaultyMaasOptions {
  readonly clock: Clock;
  /** Asked for each request; `undefined` lets it pass. */
  readonly fault?: (request: { method: string; target: string }) => Fault | undefined;
  /** Asked before and after each request is carried out. */
  readonly latencyMs?: () => number;
  readonly deployMs?: number;
  readonly commissionMs?: number;
  /** 0: released immediately, as with manual power. */
  readonly releaseMs?: number;
  readonly eraseMs?: number;
  /** How the next such work ends; shifts one per start, then success. */
  readonly deployEnds?: number[];
  readonly commissionEnds?: number[];
  readonly releaseEnds?: number[];
  /** Called for each change that really happened, as soon as it has. */
  readonly onEffect?: (effect: Effect) => void;
}

/**
 * A MAAS in memory, by the facts of maas.md §3 to §6, that counts the real events of each machine,
 * whatever the client received. It is independent of the simulator in src, which tests itself.
 */
export class FaultyMaas {
  readonly machines = new Map<string, FakeMachine>();
  readonly effects: Effect[] = [];
  readonly requests: { method: string; target: string; form: URLSearchParams }[] = [];
  readonly events: { id: number; node: string; level: string; type: string; description: string; created: string }[] =
    [];
  /** Script sets by `<system_id>/<type>`, as the API gives them. */
  readonly results = new Map<string, unknown[]>();
  readonly #o: FaultyMaasOptions;
  #late: { at: number; run: () => void }[] = [];

  constructor(options: FaultyMaasOptions) {
    this.#o = options;
  }

  add(systemId: string, state: Partial<FakeMachine> = {}): FakeMachine {
    const machine: FakeMachine = {
      system_id: systemId,
      hostname: `host-${systemId}`,
      status: 4,
      owner: null,
      owner_data: {},
      agent: '',
      locked: false,
      osystem: '',
      distro_series: '',
      error_description: '',
      mac: `52:54:00:00:00:${(this.machines.size + 1).toString(16).padStart(2, '0')}`,
      domain: 'maas',
      commissioned: true,
      ...state,
    };
    this.machines.set(systemId, machine);
    return machine;
  }

  /** An action of a person on a machine, immediate and reliable. */
  byHand(systemId: string, op: 'release' | 'abort' | 'allocate' | 'deploy', user = 'alice', comment = ''): void {
    const machine = this.machines.get(systemId)!;
    this.#catchUp();
    const seen = this.events.length;
    const form = new URLSearchParams({ system_id: systemId, ...(comment === '' ? {} : { comment }) });
    const answer = op === 'allocate' ? this.#allocate(form) : this.#operate(machine, op, form);
    if (answer.status !== 200) throw new Error(`${op} by hand: ${answer.status} ${answer.body}`);
    for (const event of this.events.slice(seen)) event.description = event.description.replace('(admin)', `(${user})`);
  }

  /** Starts the work that belongs to the machine's state, as if it had been started before the test. */
  start(machine: FakeMachine): void {
    const o = this.#o;
    const ends = (ms: number, status: number) => {
      machine.ends = { at: o.clock.now() + ms, status };
    };
    if (machine.status === 1) ends(o.commissionMs ?? 300_000, o.commissionEnds?.shift() ?? 4);
    if (machine.status === 9) ends(o.deployMs ?? 600_000, o.deployEnds?.shift() ?? 6);
    if (machine.status === 21) ends(o.commissionMs ?? 300_000, o.commissionEnds?.shift() ?? 4);
    if (machine.status === 12) ends(o.releaseMs ?? 60_000, o.releaseEnds?.shift() ?? (machine.commissioned ? 4 : 0));
    if (machine.status === 14) ends(o.eraseMs ?? 900_000, o.releaseEnds?.shift() ?? (machine.commissioned ? 4 : 0));
  }

  /** Adds an entry to MAAS' log. */
  log(node: string, level: string, type: string, description = ''): void {
    const created = new Date(this.#o.clock.now()).toUTCString().replace(/^(\w+, \d+ \w+)( \d+ \S+) GMT$/, '$1.$2');
    this.events.push({ id: this.events.length + 1, node, level, type, description, created });
  }

  count(systemId: string, what: Effect['what']): number {
    return this.effects.filter((effect) => effect.system_id === systemId && effect.what === what).length;
  }

  sent(pattern: RegExp): number {
    return this.requests.filter((request) => pattern.test(`${request.method} ${request.target}`)).length;
  }

  /** The connection of one process; each has its own, since one may die. */
  transport(onKill?: () => void): Transport {
    return { send: (request) => this.#serve(request, onKill), close: () => Promise.resolve() };
  }

  async #serve(request: HttpRequest, onKill?: () => void): Promise<HttpAnswer> {
    request.signal?.throwIfAborted();
    await this.#o.clock.sleep(this.#o.latencyMs?.() ?? 0, request.signal);
    const answer = await this.#meet(request, onKill);
    if (this.#o.latencyMs) await this.#o.clock.sleep(this.#o.latencyMs(), request.signal);
    return answer;
  }

  async #meet(request: HttpRequest, onKill?: () => void): Promise<HttpAnswer> {
    const target = request.url.replace(/^.*\/api\/2\.0\//, '');
    const form = new URLSearchParams(request.body ?? '');
    const act = () => this.#handle(request.method, target, form);
    const fault = this.#o.fault?.({ method: request.method, target });
    const never = new Promise<HttpAnswer>(() => {});
    switch (fault) {
      case 'drop_before':
        throw new TransportError('lost', 'ECONNRESET');
      case 'drop_after':
        act();
        throw new TransportError('lost', 'ECONNRESET');
      case 'timeout_after':
        act();
        await this.#o.clock.sleep(request.timeoutMs);
        throw new TransportError('timeout', 'TIMEOUT');
      case '504_after':
        act();
        return html(504, 'Gateway Time-out');
      case '500':
        return text(500, 'Error determining BMC task queue for machine');
      case '502':
        return html(502, 'Bad Gateway');
      case '503':
        return text(503, 'No rack controllers can access the BMC of node');
      case '503retry':
        return { ...text(503, 'unavailable'), headers: { 'retry-after': '10' } };
      case '409html':
        return { ...html(409, 'Conflict Error'), headers: { 'retry-after': '5', 'content-type': 'text/html' } };
      case 'doubled':
        act();
        return act();
      case 'doubled_nonce':
        act();
        return text(401, "Authorization Error: 'Nonce already used: x'");
      case 'delayed':
        this.#late.push({ at: this.#o.clock.now() + 10_000, run: act });
        throw new TransportError('lost', 'ECONNRESET');
      case 'kill_before':
        onKill?.();
        return never;
      case 'kill_after':
        act();
        onKill?.();
        return never;
      default:
        return act();
    }
  }

  #handle(method: string, target: string, form: URLSearchParams): HttpAnswer {
    this.#catchUp();
    const url = new URL(target, 'http://maas/');
    const op = url.searchParams.get('op');
    this.requests.push({ method, target, form });
    const path = url.pathname.slice(1);
    if (path === 'users/') return json({ username: 'admin', is_superuser: true });
    if (path === 'events/') {
      const ids = url.searchParams.getAll('id');
      return json({ events: this.events.filter((event) => ids.length === 0 || ids.includes(event.node)).reverse() });
    }
    const results = /^nodes\/(\w+)\/results\/$/.exec(path);
    if (results) return json(this.results.get(`${results[1]}/${url.searchParams.get('type')}`) ?? []);
    if (path === 'machines/' && method === 'GET') return json(this.#list(url.searchParams).map(view));
    if (path === 'machines/' && op === 'allocate') return this.#allocate(form);
    const id = /^machines\/(\w+)\/$/.exec(path)?.[1];
    if (id === undefined) return text(404, `Unknown API endpoint: ${path}`);
    const machine = this.machines.get(id);
    if (!machine) return text(404, 'No Machine matches the given query.');
    if (method === 'GET') return json(view(machine));
    return this.#operate(machine, op ?? '', form);
  }

  #list(query: URLSearchParams): FakeMachine[] {
    const fits = (name: string, value: string) => !query.has(name) || query.getAll(name).includes(value);
    return [...this.machines.values()].filter(
      (m) =>
        fits('id', m.system_id) &&
        fits('hostname', m.hostname) &&
        fits('mac_address', m.mac) &&
        fits('agent_name', m.agent),
    );
  }

  #allocate(form: URLSearchParams): HttpAnswer {
    const machine = this.machines.get(form.get('system_id') ?? '');
    if (machine?.status !== 4 || machine.owner !== null) {
      return text(409, `No machine with system ID ${form.get('system_id')} available.`);
    }
    machine.status = 10;
    machine.owner = 'admin';
    machine.agent = form.get('agent_name') ?? '';
    this.#asked(machine, 'User acquiring node', form);
    this.#effect(machine, 'allocate');
    return json(view(machine));
  }

  #operate(machine: FakeMachine, op: string, form: URLSearchParams): HttpAnswer {
    const name = stateNames[machine.status] ?? String(machine.status);
    switch (op) {
      case 'set_workload_annotations':
        if (machine.owner === null) return text(409, 'not owned');
        for (const [key, value] of form) {
          if (value === '') delete machine.owner_data[key];
          else machine.owner_data[key] = value;
        }
        this.#effect(machine, 'annotate');
        return json(view(machine));
      case 'deploy': {
        if (machine.status !== 10 && machine.status !== 4)
          return text(409, `Can't deploy a machine that is in the '${name}' state`);
        const [system, series] = (form.get('distro_series') ?? 'ubuntu/noble')
          .replace(/^(?!.*\/)/, 'ubuntu/')
          .split('/');
        machine.owner = 'admin';
        machine.agent = form.get('agent_name') ?? machine.agent;
        machine.status = 9;
        machine.osystem = system ?? '';
        machine.distro_series = series ?? '';
        this.#asked(machine, 'User starting deployment', form);
        this.start(machine);
        this.#effect(machine, 'deploy');
        return json(view(machine));
      }
      case 'commission':
        if (![0, 2, 4, 8].includes(machine.status)) {
          const body = { __all__: ['Commission is not available because of the current state of the node.'] };
          return { ...json(body), status: 400 };
        }
        machine.status = 1;
        machine.owner = 'admin';
        this.#asked(machine, 'User starting node commissioning', form);
        this.start(machine);
        this.#effect(machine, 'commission');
        return json(view(machine));
      case 'test':
        machine.status = 21;
        this.#asked(machine, 'User starting hardware testing', form);
        this.start(machine);
        this.#effect(machine, 'test');
        return json(view(machine));
      case 'release': {
        if (machine.locked) return text(403, '');
        if (machine.status === 4 || machine.status === 12) return json(view(machine));
        if (![5, 6, 8, 9, 10, 11, 13, 15].includes(machine.status)) {
          return text(409, `Machine cannot be released in its current state ('${name}').`);
        }
        this.#asked(machine, 'User releasing node', form);
        this.#effect(machine, 'release');
        const erases = form.has('erase');
        machine.status = erases ? 14 : 12;
        if (!erases) {
          machine.osystem = '';
          machine.distro_series = '';
          machine.owner_data = {};
          machine.agent = '';
        }
        this.start(machine);
        if (this.#o.releaseMs === 0) this.#catchUp();
        return json(view(machine));
      }
      case 'abort': {
        if (![1, 9, 14, 21].includes(machine.status)) {
          return text(409, `Cannot abort in current state: node ${machine.system_id} is in state ${name}.`);
        }
        const stale = view(machine);
        const what = machine.status === 9 ? 'deployment' : machine.status === 1 ? 'node commissioning' : 'disk erase';
        this.#asked(machine, `User aborting ${what}`, form);
        // After the request, without its author.
        this.log(machine.system_id, 'INFO', `Aborted ${what.replace('node ', '')}`);
        this.#effect(machine, 'abort');
        machine.status = machine.status === 9 ? 10 : machine.status === 14 ? 15 : 0;
        machine.ends = undefined;
        return json(stale);
      }
      default:
        return text(400, `Unrecognised signature: method=POST op=${op}`);
    }
  }

  #catchUp(): void {
    const now = this.#o.clock.now();
    const late = this.#late.filter((entry) => entry.at <= now);
    this.#late = this.#late.filter((entry) => entry.at > now);
    for (const entry of late) entry.run();
    for (const machine of this.machines.values()) {
      if (!machine.ends || machine.ends.at > now) continue;
      const { status } = machine.ends;
      machine.ends = undefined;
      if (status === 11) machine.error_description = 'curtin failed';
      machine.status = status;
      if (status === 4 || status === 0) {
        machine.owner = null;
        machine.owner_data = {};
        machine.osystem = '';
        machine.distro_series = '';
      }
    }
  }

  #asked(machine: FakeMachine, type: string, form: URLSearchParams): void {
    const comment = form.get('comment');
    this.log(machine.system_id, 'DEBUG', type, comment ? `(admin) - ${comment}` : '(admin)');
  }

  #effect(machine: FakeMachine, what: Effect['what']): void {
    const effect = { system_id: machine.system_id, what };
    this.effects.push(effect);
    this.#o.onEffect?.(effect);
  }
}

const stateNames: Readonly<Record<number, string>> = {
  4: 'Ready',
  6: 'Deployed',
  9: 'Deploying',
  11: 'Failed deployment',
};

function view(machine: FakeMachine): Record<string, unknown> {
  const { mac, domain, agent: _agent, ends: _ends, commissioned: _commissioned, ...fields } = machine;
  return {
    ...structuredClone(fields),
    workload_annotations: { ...machine.owner_data },
    status_name: stateNames[machine.status] ?? `state ${machine.status}`,
    fqdn: `${machine.hostname}.${domain}`,
    domain: { name: domain },
    zone: { name: 'default' },
    pool: { name: 'default' },
    interface_set: [{ mac_address: mac }],
    ip_addresses: [],
    tag_names: [],
  };
}

const json = (body: unknown): HttpAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
});
const text = (status: number, body: string): HttpAnswer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
});
const html = (status: number, title: string): HttpAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h2>${title}</h2></body></html>`,
});
