import { type Answer, databaseConflict, proxyError, serverError, serviceUnavailable, webPage } from './answer.ts';
import { type ApiRequest, answerApi, keyRefused } from './api.ts';
import { type Clock, timerClock } from './clock.ts';
import type { StartMachines } from './containers/index.ts';
import type { MachineContainers } from './containers/machine-containers.ts';
import { type ControlAnswer, type ControlledServer, control, seedMachines, setAutomation } from './controls.ts';
import { type FaultKind, takeFault } from './faults.ts';
import { Journal } from './journal.ts';
import { Authenticator, type SimulatorKeys } from './oauth.ts';
import { endPhase, takeRackEvent } from './rack-events.ts';
import type { Machine } from './records.ts';
import { Region } from './region.ts';
import type { Seed } from './seed.ts';
import { type MaasVersion, maasVersions } from './versions.ts';

export interface RegionOptions {
  /** Whose answers it gives; default `3.6`. A region from `stateFile` may change its version, as by an upgrade. */
  readonly version?: MaasVersion;
  /** Keys of its users; absent: those that everyone knows. */
  readonly keys?: SimulatorKeys;
  /** Keeps the region in this file, so that a killed simulator can resume. */
  readonly stateFile?: string;
  /** Applied at a first start. At a restart from `stateFile`, only its machines that are not there yet are added. */
  readonly seed?: Seed;
  /** Body of the `auto` control. Applied at a first start. */
  readonly auto?: Readonly<Record<string, unknown>>;
  /** Machines that are more than records: `prepareContainers`. */
  readonly startMachines?: StartMachines;
  /** For tests: a clock advanced by hand. */
  readonly clock?: Clock;
}

/** A region without its HTTP server. */
export interface ServedRegion {
  /** Answers a request to the API as the faults that are set want it; null: the connection breaks. */
  answer(request: ApiRequest): Promise<Answer | null>;
  /** Handles a request to `/_control/`. */
  control(method: string, path: string, body: string): ControlAnswer;
  close(): Promise<void>;
}

/** Requests kept in memory for `GET requests`. */
const requestsKept = 100_000;

/**
 * Opens a region in this process.
 *
 * @param closeServer ends what brings requests, before the journal is closed
 * @throws Error when `stateFile` is not a state file, or `seed` or `auto` is invalid
 */
export async function openRegion(
  options: RegionOptions,
  closeServer: () => Promise<void> = async () => undefined,
): Promise<ServedRegion> {
  const clock = options.clock ?? timerClock;
  const version = options.version ?? '3.6';
  if (!maasVersions.includes(version)) throw new Error(`no version '${version}': ${maasVersions.join(', ')}`);
  const region = new Region(version);
  let journal: Journal | null = null;
  let machines: MachineContainers | undefined;
  const commit = (): void => {
    const changes = region.changes.take();
    journal?.write(changes);
    machines?.follow();
  };
  const timers = new PhaseTimers(clock, (id) => {
    const machine = region.machines.get(id);
    if (machine) endPhase(server, machine);
    commit();
  });
  const server: ControlledServer = {
    region,
    clock,
    get bootFaults() {
      return machines?.faults;
    },
    schedule: (machine) => timers.set(machine),
    reset: () => {
      timers.clear();
      region.reset();
      region.changes.take();
      journal?.compact();
    },
  };
  const close = async (): Promise<void> => {
    timers.clear();
    await machines?.close();
    await closeServer();
    journal?.close();
  };
  try {
    if (options.stateFile !== undefined) journal = Journal.open(options.stateFile, region);
    begin(server, options);
    machines = await options.startMachines?.(region, (id, event, comment) => {
      const machine = region.machines.get(id);
      if (machine) takeRackEvent(server, machine, event, comment, { what: `machine:${event}`, user: null });
      commit();
    });
    commit();
  } catch (error) {
    await close();
    throw error;
  }
  const authenticator = new Authenticator(version, options.keys);
  return {
    answer: (request) => answer(server, authenticator, request, commit),
    control(method, path, body) {
      const answered = control(server, method, path, body);
      commit();
      return answered;
    },
    close,
  };
}

/** Fills a new region. Of one from a file, resumes the timers, and adds the machines of the seed that it lacks. */
function begin(server: ControlledServer, options: RegionOptions): void {
  const { region } = server;
  for (const machine of region.machines.values()) server.schedule(machine);
  const isNew = region.machines.size === 0;
  const check = ({ status, value }: ControlAnswer): void => {
    if (status !== 200) throw new Error((value as { error: string }).error);
  };
  if (isNew && options.auto !== undefined) check(setAutomation(server, options.auto));
  const { seed } = options;
  if (isNew && seed !== undefined) check(seedMachines(server, seed));
  const lacking = (seed?.machines ?? []).filter(
    ({ hostname }) => hostname !== undefined && region.machinesNamed(hostname).length === 0,
  );
  if (!isNew && lacking.length > 0) check(seedMachines(server, { machines: lacking }));
}

async function answer(
  server: ControlledServer,
  authenticator: Authenticator,
  request: ApiRequest,
  commit: () => void,
): Promise<Answer | null> {
  const { region, clock } = server;
  const { method, url, body } = request;
  const fault = takeFault(region, method, url);
  const handle = (checkNonce = true): Answer => {
    const { answer: given, user } = answerApi(server, authenticator, request, checkNonce);
    note(user, given.status);
    commit();
    return given;
  };
  const note = (user: string | null, status: number | null): void => {
    const entry = {
      n: region.requests.added + 1,
      at: new Date(clock.now()).toISOString(),
      method,
      url,
      body,
      user,
      status,
      fault: fault?.kind ?? null,
    };
    if (method === 'GET') region.requests.addTransient(entry, requestsKept);
    else region.requests.add(entry);
  };
  const instead = (given: Answer | null): Answer | null => {
    note(null, given?.status ?? null);
    commit();
    return given;
  };
  switch (fault?.kind as FaultKind | undefined) {
    case undefined:
      return handle();
    case 'drop_before':
      return instead(null);
    case 'drop_after':
      handle();
      return null;
    case '504_after':
      handle();
      return proxyError(504);
    case 'garbled':
      handle();
      return webPage();
    case '401':
      return instead(keyRefused(method, url));
    case '409html':
      return instead(databaseConflict());
    case '503':
      return instead(serviceUnavailable(null));
    case '503retry':
      return instead(serviceUnavailable(10));
    case '500':
      return instead(serverError('Internal Server Error'));
    case '502':
      return instead(proxyError(502));
    case '504':
      return instead(proxyError(504));
    case 'slow':
      await new Promise<void>((resolve) => clock.after(fault?.ms ?? 0, resolve));
      return handle();
    case 'double':
      handle();
      return handle(false);
  }
}

/** One timer per machine with an automatic phase. */
class PhaseTimers {
  readonly #clock: Clock;
  readonly #end: (id: string) => void;
  readonly #running = new Map<string, () => void>();

  /** @param end ends the phase of a machine when it is due. */
  constructor(clock: Clock, end: (id: string) => void) {
    this.#clock = clock;
    this.#end = end;
  }

  /** Follows the `due` of a machine: starts, moves or stops its timer. */
  set(machine: Readonly<Machine>): void {
    this.#running.get(machine.id)?.();
    this.#running.delete(machine.id);
    if (machine.due === null) return;
    const { at } = machine.due;
    const cancel = this.#clock.after(at - this.#clock.now(), () => {
      this.#running.delete(machine.id);
      // A timer may fire early, by rounding or because the delay is too long for it.
      if (this.#clock.now() < at) this.set(machine);
      else this.#end(machine.id);
    });
    this.#running.set(machine.id, cancel);
  }

  clear(): void {
    for (const cancel of this.#running.values()) cancel();
    this.#running.clear();
  }
}
