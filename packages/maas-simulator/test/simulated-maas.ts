import { randomUUID } from 'node:crypto';
import type { SimulatorClock } from '../src/index.ts';
import { type Simulator, type SimulatorOptions, simulateMaas, simulatorKeys } from '../src/index.ts';

/** A clock that stops until a test moves it. */
export class ManualClock implements SimulatorClock {
  #now = Date.parse('2026-11-21T13:00:00Z');
  #waiting: { at: number; work: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const entry = { at: this.#now + ms, work };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Moves on, and runs due timers in the order of time. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#waiting.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.work();
    }
    this.#now = until;
  }
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of a foreign API, looked into field by field.
  readonly json: any;
}

export const form = (fields: Readonly<Record<string, string | readonly string[]>>): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, each])),
  ).toString();

/** An `Authorization` header for a key, with members changed or left out (`undefined`). */
export function authorization(
  key: string,
  now: number,
  members: Readonly<Record<string, string | undefined>> = {},
): string {
  const [consumer, token, secret] = key.split(':');
  const all = {
    oauth_version: '1.0',
    oauth_signature_method: 'PLAINTEXT',
    oauth_consumer_key: consumer,
    oauth_token: token,
    oauth_signature: `%26${secret}`,
    oauth_nonce: randomUUID(),
    oauth_timestamp: String(Math.floor(now / 1000)),
    ...members,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return `OAuth ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** A running simulator with a clock moved by hand, and short ways to talk to it. */
export class SimulatedMaas {
  readonly simulator: Simulator;
  readonly clock: ManualClock;

  private constructor(simulator: Simulator, clock: ManualClock) {
    this.simulator = simulator;
    this.clock = clock;
  }

  static async start(options: Partial<SimulatorOptions> = {}): Promise<SimulatedMaas> {
    const clock = new ManualClock();
    return new SimulatedMaas(await simulateMaas({ port: 0, clock, ...options }), clock);
  }

  close(): Promise<void> {
    return this.simulator.close();
  }

  async send(method: string, url: string, headers: Record<string, string>, body?: string): Promise<Reply> {
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: response.status, headers: response.headers, text, json };
  }

  /** @param path under `api/2.0/`. @param fields sent as a form. */
  api(
    method: string,
    path: string,
    fields?: Readonly<Record<string, string | readonly string[]>>,
    key: string = simulatorKeys.admin,
  ): Promise<Reply> {
    const headers: Record<string, string> = { Authorization: authorization(key, this.clock.now()) };
    if (method === 'POST' || method === 'PUT') headers['Content-Type'] = 'application/x-www-form-urlencoded';
    return this.send(method, `${this.simulator.url}/api/2.0/${path}`, headers, fields && form(fields));
  }

  /** The same as the user who is not an administrator. */
  operator(
    method: string,
    path: string,
    fields?: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<Reply> {
    return this.api(method, path, fields, simulatorKeys.operator);
  }

  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Reply> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return this.send(method, `${this.simulator.controlUrl}/${path}`, {}, text);
  }

  /** Makes one machine and gives its system_id. */
  async machine(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const reply = await this.control('POST', 'seed', { machines: [{ hostname: 'm1', ...fields }] });
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.json[0] as string;
  }

  async status(id: string): Promise<number> {
    return (await this.api('GET', `machines/${id}/`)).json.status as number;
  }

  /** The moves that happened, as `[from, to, cause]`, but for the making of the machines. */
  async moves(): Promise<[number | null, number | null, string][]> {
    const { json } = await this.control('GET', 'effects');
    const effects = json as { from: number | null; to: number | null; cause: string }[];
    return effects.filter(({ cause }) => cause !== 'seed').map(({ from, to, cause }) => [from, to, cause]);
  }
}
