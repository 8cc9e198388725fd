import type { ApiKey } from './api-key.ts';
import { MaasConnection, type MaasConnectionConfig, segment } from './connection.ts';
import { DiagnosticCalls } from './diagnostic-calls.ts';
import { isMaasFailure } from './failure.ts';
import { InventoryCalls } from './inventory-calls.ts';
import { LayoutCalls } from './layout/layout-calls.ts';
import { asObject, asText, asTexts } from './lenient.ts';
import { MachineCalls, unexpectedAnswer } from './machine-calls.ts';

export interface MaasVersion {
  readonly version: string;
  readonly subversion: string;
  readonly capabilities: readonly string[];
}
export interface MaasUser {
  readonly username: string;
  /**
   * May commission, configure and see all machines, as an administrator may and, since MAAS 3.8, a member of a group with that right. One
   * who may not may have it for the machines of a resource pool: `mayEditMachine` asks.
   */
  readonly editsMachines: boolean;
}

/** Ids have six characters: no machine has this one. */
const NO_MACHINE = 'none';

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

  /**
   * Checks the key, and reads what its user may do with machines.
   *
   * @param options `isKeyFinal`: a refused key is reported at once, see `MaasConnectionConfig.keyPatienceMs`
   */
  async whoami(signal?: AbortSignal, options: { readonly isKeyFinal?: boolean } = {}): Promise<MaasUser> {
    const { key } = this.#maas;
    const o = await this.#maas.object('users/', { query: { op: 'whoami' }, signal, ...options });
    const username = asText(o.username);
    if (username === '') throw unexpectedAnswer('GET users/?op=whoami', 'has no user');
    // `is_superuser` says what an account is, not what it may do: groups have rights since MAAS 3.8, and an administrator may lack them
    // where Canonical RBAC decides. This reads nothing of any machine, and is refused to those who may not edit them.
    const editsMachines = await this.#isAllowed(() =>
      this.#maas.get('machines/', { query: { op: 'power_parameters', id: NO_MACHINE }, signal, ...options }),
    );
    const user = { username, editsMachines };
    this.#user = user;
    this.#userKey = key;
    return user;
  }

  /** Whether the user may commission and configure this machine: all may who have the right for its pool. */
  async mayEditMachine(systemId: string, signal?: AbortSignal): Promise<boolean> {
    // Its answer has the passwords of the BMC; nothing of it is kept.
    return await this.#isAllowed(() =>
      this.#maas.get(`machines/${segment(systemId)}/`, { query: { op: 'power_parameters' }, signal }),
    );
  }

  /** Whether the user may make and change tags, subnets and what else all machines share. */
  async mayEditShared(signal?: AbortSignal): Promise<boolean> {
    try {
      // MAAS looks at the right before it looks at the form, which has no name: nothing is made.
      return await this.#isAllowed(() => this.#maas.post('tags/', { signal, changesNothing: true }));
    } catch (error) {
      if (isMaasFailure(error, 'invalid')) return true;
      throw error;
    }
  }

  async #isAllowed(ask: () => Promise<unknown>): Promise<boolean> {
    try {
      await ask();
      return true;
    } catch (error) {
      if (isMaasFailure(error, 'forbidden')) return false;
      throw error;
    }
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

  /** See `MaasConnection.givenUp`. */
  givenUp(signal: AbortSignal): string | undefined {
    return this.#maas.givenUp(signal);
  }

  close(): Promise<void> {
    return this.#maas.close();
  }
}

/** Free addresses between two, both included. */
interface AddressRange {
  readonly start: string;
  readonly end: string;
}

/** Addresses that MAAS keeps for others than machines, such as virtual ones. */
class AddressCalls {
  readonly #maas: MaasConnection;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
  }

  /** The addresses that the key's user has reserved. */
  async reserved(signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#maas.list('ipaddresses/', { signal })).map((address) => asText(asObject(address).ip));
  }

  async free(subnet: number, signal?: AbortSignal): Promise<readonly AddressRange[]> {
    const query = { op: 'unreserved_ip_ranges' };
    return (await this.#maas.list(`subnets/${segment(subnet)}/`, { query, signal })).map((range) => {
      const { start, end } = asObject(range);
      return { start: asText(start), end: asText(end) };
    });
  }

  /** Sent exactly once: ask `reserved` before it is sent again. @throws MaasError where the address is in use */
  async reserve(ip: string, signal?: AbortSignal): Promise<void> {
    await this.#maas.post('ipaddresses/', { query: { op: 'reserve' }, form: { ip }, signal });
  }
}
