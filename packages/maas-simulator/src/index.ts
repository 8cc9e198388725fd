import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, serverError, tooLarge } from './answer.ts';
import type { ControlAnswer } from './controls.ts';
import { openRegion, type RegionOptions, type ServedRegion } from './served-region.ts';

export type { Clock as SimulatorClock } from './clock.ts';
export { newKeys, simulatorKeys } from './oauth.ts';
export { rackEvents } from './rack-events.ts';
export type { Effect, RequestEntry } from './records.ts';
export type { Seed } from './seed.ts';
export { openRegion, type RegionOptions, type ServedRegion } from './served-region.ts';
export { type MaasVersion, maasVersions } from './versions.ts';

export interface SimulatorOptions extends RegionOptions {
  /** 0 chooses a free port. */
  readonly port: number;
  /** A loopback name or address; others are refused. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Another name by which clients may call it, where a forwarder brings them to its loopback address. */
  readonly alias?: string;
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

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * Starts a model of MAAS' REST API 2.0 on this machine: its state machine, permissions and
 * refusals as recorded from a real 3.6, and as read of later versions, without hardware. Controls under `/_control/`
 * act as racks and nodes.
 *
 * @throws Error when `host` is not loopback, the port is taken, `stateFile` is not a state file,
 * or `seed` or `auto` is invalid.
 */
export async function simulateMaas(options: SimulatorOptions): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1';
  if (!isLoopback(host)) {
    throw new Error(`The MAAS simulator listens on this machine only: '${host}' is refused. Use 127.0.0.1`);
  }
  const http = createServer();
  // A client's idle connection must outlive the pause between two polls.
  http.keepAliveTimeout = 65_000;
  // Listen first: the taken port keeps a second simulator from the same state file.
  await listen(http, options.port, host);
  const closeHttp = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    http.closeAllConnections();
    await closed;
  };
  const region = await openRegion(options, closeHttp);
  http.on('request', (request, response) => {
    serve(region, new Exchange(request, response), options.alias).catch(() => response.destroy());
  });
  const { port } = http.address() as AddressInfo;
  const origin = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  return {
    url: `${origin}/MAAS`,
    controlUrl: `${origin}/_control`,
    port,
    close: region.close,
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

/** Whether a page in a browser sent it, of whatever site: the simulator has none. Browsers name the origin of what they post. */
function isOfPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin !== undefined || (site !== undefined && site !== 'none');
}

async function serve(region: ServedRegion, exchange: Exchange, alias: string | undefined): Promise<void> {
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
    if (method !== 'GET' && isOfPage(exchange.request))
      return exchange.sendControl({ status: 403, value: { error: 'pages in a browser do not control the simulator' } });
    let path = controlPath;
    while (path.endsWith('/')) path = path.slice(0, -1);
    return exchange.sendControl(region.control(method, path, body));
  }
  const { authorization, 'content-type': contentType = '' } = exchange.request.headers;
  const answer = await region.answer({ method, url, authorization, contentType, body });
  if (answer === null) exchange.drop();
  else exchange.send(answer);
}
