import { type FormFields, type MaasConnection, segment } from './connection.ts';
import { isMaasFailure, MaasError } from './failure.ts';
import { asText } from './lenient.ts';
import { type Machine, parseMachine } from './machine.ts';
import { MachineStatus } from './status.ts';

/** Filters of the list: "and" between the names, "or" within one. */
interface MachineFilter {
  readonly systemIds?: readonly string[];
  readonly hostnames?: readonly string[];
  readonly macAddresses?: readonly string[];
  readonly domains?: readonly string[];
  readonly zones?: readonly string[];
  readonly pools?: readonly string[];
  readonly tags?: readonly string[];
  readonly notTags?: readonly string[];
  /** As they were given when the machine was allocated. */
  readonly agentNames?: readonly string[];
  /** Lower-case constants, see `machineStatusFilters`. */
  readonly statuses?: readonly string[];
}

/** A machine to create in MAAS. */
export interface NewMachine {
  readonly hostname: string;
  readonly macAddresses: readonly string[];
  /** e.g. `amd64/generic`. */
  readonly architecture: string;
  readonly domain?: string;
  readonly powerType?: string;
  /** e.g. `power_address`, `power_user`, `power_pass` of ipmi. */
  readonly powerParameters?: Readonly<Record<string, string>>;
  /** An administrator's machine is commissioned immediately unless this is false (the default here). */
  readonly commission?: boolean;
  readonly description?: string;
}

interface AllocateOptions {
  readonly agentName?: string;
  readonly comment?: string;
}

export interface CommissionOptions {
  readonly enableSsh?: boolean;
  readonly skipBmcConfig?: boolean;
  readonly skipNetworking?: boolean;
  readonly skipStorage?: boolean;
  readonly commissioningScripts?: readonly string[];
  /** `[]` runs no tests; absent leaves MAAS' default. */
  readonly testingScripts?: readonly string[];
}

export interface DeployOptions {
  /** `jammy`, `ubuntu/jammy`, `22.04`, `custom/name`; absent: the region's default. */
  readonly distroSeries?: string;
  readonly hweKernel?: string;
  /** cloud-init user data for the node, not yet encoded. */
  readonly userData?: string | Uint8Array;
  readonly agentName?: string;
  readonly comment?: string;
}

/** Disks are erased only on request, unless the region is configured to erase them. */
export interface EraseOptions {
  readonly erase?: boolean;
  readonly secureErase?: boolean;
  readonly quickErase?: boolean;
}

interface ReleaseOptions extends EraseOptions {
  readonly comment?: string;
}

/** Values per list request; also keeps the URL within the limits of proxies. */
export const listChunk = 100;

/** The calls about machines, one method per call of MAAS, without decisions. */
export class MachineCalls {
  readonly #maas: MaasConnection;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
  }

  /**
   * Machines that match the filter; an empty list of values matches none. System ids, hostnames and MACs
   * are sent 100 at a time, and go before single readings that wait: many wait for a list.
   * @throws MaasError `invalid` for a zone, pool or tag that does not exist (MAAS does not answer `[]`).
   */
  async list(filter: MachineFilter = {}, signal?: AbortSignal): Promise<readonly Machine[]> {
    if (Object.values(filter).some((values: readonly string[] | undefined) => values?.length === 0)) return [];
    const { systemIds, hostnames, macAddresses } = filter;
    const found = new Map<string, Machine>();
    for (const ids of chunks(systemIds)) {
      for (const names of chunks(hostnames)) {
        for (const macs of chunks(macAddresses)) {
          const query = {
            id: ids,
            hostname: names,
            mac_address: macs,
            domain: filter.domains,
            zone: filter.zones,
            pool: filter.pools,
            tags: filter.tags,
            not_tags: filter.notTags,
            agent_name: filter.agentNames,
            status: filter.statuses,
          };
          for (const item of await this.#maas.list('machines/', { query, signal, urgent: true })) {
            const machine = parseMachine(item);
            if (machine) found.set(machine.systemId, machine);
          }
        }
      }
    }
    return [...found.values()];
  }

  /** @throws MaasError `not-found` when there is no such machine. */
  async read(
    systemId: string,
    signal?: AbortSignal,
    { urgent }: { readonly urgent?: boolean | undefined } = {},
  ): Promise<Machine> {
    return this.#machine('GET', systemId, await this.#maas.object(pathOf(systemId), { signal, urgent }));
  }

  /** @throws MaasError `invalid` when hostname or MAC is in use. */
  async create(machine: NewMachine, signal?: AbortSignal): Promise<Machine> {
    const power = Object.entries(machine.powerParameters ?? {});
    const form: Record<string, FormFields[string]> = {
      architecture: machine.architecture,
      mac_addresses: machine.macAddresses,
      hostname: machine.hostname,
      domain: machine.domain,
      power_type: machine.powerType,
      description: machine.description,
      // Explicit, because by default an administrator's machine is commissioned.
      commission: machine.commission === true ? 'true' : 'false',
    };
    for (const [name, value] of power) form[`power_parameters_${name}`] = value;
    const secrets = power.filter(([name]) => /pass|secret|key|k_g|token/i.test(name)).map(([, value]) => value);
    const answer = await this.#maas.post('machines/', { form, secrets, signal });
    return this.#machine('POST', machine.hostname, answer);
  }

  /** Changes hostname, domain, zone, pool or description. */
  async update(
    systemId: string,
    change: { hostname?: string; domain?: string; zone?: string; pool?: string; description?: string },
    signal?: AbortSignal,
  ): Promise<Machine> {
    return this.#machine('PUT', systemId, await this.#maas.put(pathOf(systemId), { form: change, signal }));
  }

  /** A missing machine counts as deleted. */
  async delete(systemId: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#maas.delete(pathOf(systemId), { signal });
    } catch (error) {
      if (!isMaasFailure(error, 'not-found')) throw error;
    }
  }

  /**
   * Allocates one machine to the caller (Ready → Allocated). Only by system_id: allocation by constraints
   * cannot be repeated safely.
   */
  async allocate(systemId: string, options: AllocateOptions = {}, signal?: AbortSignal): Promise<Machine> {
    const form = { system_id: systemId, agent_name: options.agentName, comment: options.comment };
    const answer = await this.#maas.post('machines/', { query: { op: 'allocate' }, form, signal });
    return this.#machine('POST', systemId, answer);
  }

  commission(systemId: string, options: CommissionOptions = {}, signal?: AbortSignal): Promise<Machine> {
    const tests = options.testingScripts;
    return this.#operate(systemId, 'commission', signal, {
      enable_ssh: flag(options.enableSsh),
      skip_bmc_config: flag(options.skipBmcConfig),
      skip_networking: flag(options.skipNetworking),
      skip_storage: flag(options.skipStorage),
      commissioning_scripts: options.commissioningScripts?.join(','),
      testing_scripts: tests === undefined ? undefined : tests.length === 0 ? 'none' : tests.join(','),
    });
  }

  /** @param scripts by name; none: MAAS' default */
  test(systemId: string, scripts: readonly string[], signal?: AbortSignal): Promise<Machine> {
    const form = { testing_scripts: scripts.length === 0 ? undefined : scripts.join(',') };
    return this.#operate(systemId, 'test', signal, form);
  }

  deploy(systemId: string, options: DeployOptions = {}, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'deploy', signal, {
      distro_series: options.distroSeries,
      hwe_kernel: options.hweKernel,
      user_data: options.userData === undefined ? undefined : base64(options.userData),
      agent_name: options.agentName,
      comment: options.comment,
    });
  }

  release(systemId: string, options: ReleaseOptions = {}, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'release', signal, {
      erase: options.erase,
      secure_erase: options.secureErase,
      quick_erase: options.quickErase,
      comment: options.comment,
    });
  }

  /** Goes before all other changes that wait. The answer has the old state; the next read has the new state. */
  abort(systemId: string, comment?: string, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'abort', signal, { comment }, true);
  }

  lock(systemId: string, comment?: string, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'lock', signal, { comment });
  }

  unlock(systemId: string, comment?: string, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'unlock', signal, { comment });
  }

  /** Only for the owner; the machine then has no owner. */
  markBroken(systemId: string, comment?: string, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'mark_broken', signal, { comment });
  }

  markFixed(systemId: string, comment?: string, signal?: AbortSignal): Promise<Machine> {
    return this.#operate(systemId, 'mark_fixed', signal, { comment });
  }

  /**
   * Sets workload annotations of an allocated machine; an empty value removes its key. They are
   * removed when it is released. MAAS before 3.0 has the call only under its older name.
   */
  async annotate(
    systemId: string,
    annotations: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Machine> {
    try {
      return await this.#operate(systemId, 'set_workload_annotations', signal, annotations);
    } catch (error) {
      if (!isMaasFailure(error, 'no-such-endpoint')) throw error;
      return this.#operate(systemId, 'set_owner_data', signal, annotations);
    }
  }

  /**
   * Powers a machine on. Reads the state first, because on an Allocated machine MAAS takes
   * `power_on` as a request to deploy it with the default operating system.
   * @throws RangeError for an Allocated machine; nothing is sent.
   */
  async powerOn(systemId: string, comment?: string, signal?: AbortSignal): Promise<void> {
    const machine = await this.read(systemId, signal);
    if (machine.status === MachineStatus.Allocated) {
      throw new RangeError(
        `${machine.hostname} (${systemId}) is Allocated: MAAS would deploy it instead of only powering it on. Deploy or release it.`,
      );
    }
    await this.#maas.post(pathOf(systemId), { query: { op: 'power_on' }, form: { comment }, signal });
  }

  async powerOff(
    systemId: string,
    options: { stopMode?: 'hard' | 'soft'; comment?: string } = {},
    signal?: AbortSignal,
  ) {
    const form = { stop_mode: options.stopMode, comment: options.comment };
    await this.#maas.post(pathOf(systemId), { query: { op: 'power_off' }, form, signal });
  }

  /** Queries the BMC: slow, and `unavailable` when no rack reaches it. */
  async queryPower(systemId: string, signal?: AbortSignal): Promise<'on' | 'off' | 'unknown' | 'error'> {
    const answer = await this.#maas.object(pathOf(systemId), { query: { op: 'query_power_state' }, signal });
    const state = asText(answer.state);
    return state === 'on' || state === 'off' || state === 'error' ? state : 'unknown';
  }

  async #operate(
    systemId: string,
    op: string,
    signal: AbortSignal | undefined,
    form: FormFields,
    urgent = false,
  ): Promise<Machine> {
    const answer = await this.#maas.post(pathOf(systemId), { query: { op }, form, signal, urgent });
    return this.#machine('POST', systemId, answer);
  }

  #machine(method: string, systemId: string, answer: unknown): Machine {
    const machine = parseMachine(answer);
    if (!machine) throw unexpectedAnswer(`${method} ${pathOf(systemId)}`, 'is not a machine', method !== 'GET');
    return machine;
  }
}

const pathOf = (systemId: string): string => `machines/${segment(systemId)}/`;

/** Values for one list request each; `undefined` once for no filter. */
export function* chunks(values: readonly string[] | undefined): Iterable<readonly string[] | undefined> {
  if (values === undefined) {
    yield undefined;
    return;
  }
  const unique = [...new Set(values)];
  for (let start = 0; start < unique.length; start += listChunk) yield unique.slice(start, start + listChunk);
}

const flag = (wanted: boolean | undefined): string | undefined =>
  wanted === undefined ? undefined : wanted ? '1' : '0';

function base64(data: string | Uint8Array): string {
  return (typeof data === 'string' ? Buffer.from(data, 'utf8') : Buffer.from(data)).toString('base64');
}

export function unexpectedAnswer(request: string, how: string, outcomeUnknown = false): MaasError {
  return new MaasError({
    kind: 'unexpected',
    request,
    text: `the answer ${how}`,
    outcomeUnknown,
    retryable: true,
    hint: 'if this persists, the URL does not point to the API of MAAS',
  });
}
