import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Answer,
  databaseConflict,
  proxyError,
  serverError,
  serviceUnavailable,
  tooLarge,
  webPage,
} from './answer.ts';
import { type ApiRequest, answerApi } from './api.ts';
import { type Clock, timerClock } from './clock.ts';
import type { StartMachines } from './containers/index.ts';
import type { MachineContainers } from './containers/machine-containers.ts';
import { type ControlAnswer, type ControlledServer, control, seedMachines, setAutomation } from './controls.ts';
import { type FaultKind, takeFault } from './faults.ts';
import { Journal } from './journal.ts';
import { Authenticator } from './oauth.ts';
import { endPhase, takeRackEvent } from './rack-events.ts';
import { Region } from './region.ts';
import type { Seed } from './seed.ts';
import { PhaseTimers } from './timers.ts';

export type { Clock as SimulatorClock } from './clock.ts';
export { simulatorKeys } from './oauth.ts';
export { rackEvents } from './rack-events.ts';
export type { Effect, RequestEntry } from './records.ts';
export type { Seed } from './seed.ts';

export interface SimulatorOptions {
  /** 0 chooses a free port. */
  readonly port: number;
  /** A loopback name or address; others are refused. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Another name by which clients may call it, where a forwarder brings them to its loopback address. */
  readonly alias?: string;
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

export interface Simulator {
  /** URL for clients: `http://127.0.0.1:5240/MAAS`. */
  readonly url: string;
  /** URL of the controls: `http://127.0.0.1:5240/_control`. */
  readonly controlUrl: string;
  readonly port: number;
  close(): Promise<void>;
}

const largestBody = 16 * 2 ** 20;
/** Requests kept in memory for `GET requests`. */
const requestsKept = 100_000;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Starts a model of MAAS 3.6's REST API 2.0 on this machine: its state machine, permissions and
 * refusals as recorded from a real one, without hardware. Controls under `/_control/`
 * act as racks and nodes.
 *
 * @throws Error when `host` is not loopback, the port is taken, `stateFile` is not a state file,
 * or `seed` or `auto` is invalid.
 */
export async function simulateMaas(options: SimulatorOptions): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1';
  if (!isLoopback(host)) {
    throw new Error(
      `The MAAS simulator has well-known keys and listens on this machine only: '${host}' is refused. Use 127.0.0.1`,
    );
  }
  const clock = options.clock ?? timerClock;
  const http = createServer();
  // A client's idle connection must outlive the pause between two polls.
  http.keepAliveTimeout = 65_000;
  // Listen first: the taken port keeps a second simulator from the same state file.
  await listen(http, options.port, host);

  const region = new Region();
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
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    http.closeAllConnections();
    await closed;
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
  const authenticator = new Authenticator();
  http.on('request', (request, response) => {
    serve(server, new Exchange(request, response), authenticator, commit, options.alias).catch(() =>
      response.destroy(),
    );
  });
  const { port } = http.address() as AddressInfo;
  const origin = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  return {
    url: `${origin}/MAAS`,
    controlUrl: `${origin}/_control`,
    port,
    close,
  };
}

function listen(http: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host.replace(/^\[|\]$/g, ''), () => {
      http.off('error', reject);
      resolve();
    });
  });
}

/** Fills a new region. Of one from a file, resumes the timers, and adds the machines of the seed that it lacks. */
function begin(server: ControlledServer, options: SimulatorOptions): void {
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

/** One HTTP request and its response. */
class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  get url(): string {
    return this.request.url ?? '/';
  }

  /** The whole body as text; null when it is too large. */
  async body(): Promise<string | null> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= largestBody) chunks.push(chunk);
    }
    return size > largestBody ? null : Buffer.concat(chunks).toString('utf8');
  }

  send(answer: Answer): void {
    if (this.response.destroyed) return;
    const body = Buffer.from(answer.body, 'utf8');
    const type = answer.type === null ? {} : { 'Content-Type': answer.type };
    const length = answer.status === 204 ? {} : { 'Content-Length': String(body.length) };
    this.response.writeHead(answer.status, { ...type, ...length, ...answer.headers });
    this.response.end(answer.status === 204 ? undefined : body);
  }

  sendControl({ status, value }: ControlAnswer): void {
    this.send({ status, type: 'application/json; charset=utf-8', body: JSON.stringify(value), headers: {} });
  }

  drop(): void {
    this.request.socket.destroy();
  }
}

async function serve(
  server: ControlledServer,
  exchange: Exchange,
  authenticator: Authenticator,
  commit: () => void,
  alias: string | undefined,
): Promise<void> {
  const { method, url } = exchange;
  const name = exchange.request.headers.host?.replace(/:\d+$/, '') ?? '';
  if (!isLoopback(name) && name !== alias) {
    // Prevents DNS rebinding: a web page must not reach the simulator by its own host name.
    exchange.send({ ...serverError(`'${name}' is not this machine`), status: 421 });
    return;
  }
  const body = await exchange.body();
  if (body === null) return exchange.send(tooLarge());
  const controlPath = /^\/_control(?:\/|$)([^?]*)/.exec(url)?.[1];
  if (controlPath !== undefined) {
    let path = controlPath;
    while (path.endsWith('/')) path = path.slice(0, -1);
    const answer = control(server, method, path, body);
    commit();
    return exchange.sendControl(answer);
  }

  const request: ApiRequest = {
    method,
    url,
    authorization: exchange.request.headers.authorization,
    contentType: exchange.request.headers['content-type'] ?? '',
    body,
  };
  const { region, clock } = server;
  const fault = takeFault(region, method, url);
  const handle = (checkNonce = true): Answer => {
    const { answer, user } = answerApi(server, authenticator, request, checkNonce);
    note(user, answer.status);
    commit();
    return answer;
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
  const instead = (answer: Answer | null): void => {
    note(null, answer?.status ?? null);
    commit();
    if (answer) exchange.send(answer);
    else exchange.drop();
  };
  switch (fault?.kind as FaultKind | undefined) {
    case undefined:
      return exchange.send(handle());
    case 'drop_before':
      return instead(null);
    case 'drop_after':
      handle();
      return exchange.drop();
    case '504_after':
      handle();
      return exchange.send(proxyError(504));
    case 'garbled':
      handle();
      return exchange.send(webPage());
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
      return exchange.send(handle());
    case 'double':
      handle();
      return exchange.send(handle(false));
  }
}
