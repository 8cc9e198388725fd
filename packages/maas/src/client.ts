import { AddressCalls } from './address-calls.ts';
import type { ApiKey } from './api-key.ts';
import { MaasConnection, type MaasConnectionConfig } from './connection.ts';
import { DiagnosticCalls } from './diagnostic-calls.ts';
import { InventoryCalls } from './inventory-calls.ts';
import { LayoutCalls } from './layout/layout-calls.ts';
import { asFlag, asText, asTexts } from './lenient.ts';
import { MachineCalls, unexpectedAnswer } from './machine-calls.ts';

export interface MaasVersion {
  readonly version: string;
  readonly subversion: string;
  readonly capabilities: readonly string[];
}
export interface MaasUser {
  readonly username: string;
  /** An administrator; needed to commission and to write zones, pools and tags. */
  readonly isSuperuser: boolean;
}

/** Typed client of MAAS' REST API 2.0. All methods throw `MaasError`. Only reads are retried automatically. */
export class MaasClient {
  readonly machines: MachineCalls;
  readonly inventory: InventoryCalls;
  readonly layouts: LayoutCalls;
  readonly addresses: AddressCalls;
  readonly diagnostics: DiagnosticCalls;
  readonly #maas: MaasConnection;
  #user: MaasUser | undefined;
  /** The key that the user is of. */
  #userKey: ApiKey | undefined;

  /** @throws MaasConfigurationError when URL or key cannot work. */
  constructor(config: MaasConnectionConfig) {
    this.#maas = new MaasConnection(config);
    this.machines = new MachineCalls(this.#maas);
    this.inventory = new InventoryCalls(this.#maas);
    this.layouts = new LayoutCalls(this.#maas);
    this.addresses = new AddressCalls(this.#maas);
    this.diagnostics = new DiagnosticCalls(this.#maas);
  }

  /** The API root in use, ending in `/api/2.0/`. */
  get root(): string {
    return this.#maas.root;
  }

  /** Sent without the key: checks only the URL. */
  async version(signal?: AbortSignal): Promise<MaasVersion> {
    const o = await this.#maas.object('version/', { signal, unsigned: true });
    const version = asText(o.version);
    if (version === '') throw unexpectedAnswer('GET version/', 'has no version');
    return { version, subversion: asText(o.subversion), capabilities: asTexts(o.capabilities) };
  }

  /** Checks the key. */
  async whoami(signal?: AbortSignal): Promise<MaasUser> {
    const { key } = this.#maas;
    const o = await this.#maas.object('users/', { query: { op: 'whoami' }, signal });
    const username = asText(o.username);
    if (username === '') throw unexpectedAnswer('GET users/?op=whoami', 'has no user');
    const user = { username, isSuperuser: asFlag(o.is_superuser) };
    this.#user = user;
    this.#userKey = key;
    return user;
  }

  /** The key's user, read once for each key. */
  async user(signal?: AbortSignal): Promise<MaasUser> {
    return this.#user !== undefined && this.#userKey === this.#maas.key ? this.#user : await this.whoami(signal);
  }

  /** User name of the key: the `owner` of our machines. */
  async username(signal?: AbortSignal): Promise<string> {
    return (await this.user(signal)).username;
  }

  /** See `MaasConnection.silentSince`. */
  get silentSince(): number | undefined {
    return this.#maas.silentSince;
  }

  /** See `MaasConnection.lastAnswerAt`. */
  get lastAnswerAt(): number | undefined {
    return this.#maas.lastAnswerAt;
  }

  close(): Promise<void> {
    return this.#maas.close();
  }
}
