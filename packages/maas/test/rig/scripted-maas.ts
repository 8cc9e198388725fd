import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as received. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query, from `/MAAS`. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** The server's reaction to a request. */
export type Script =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Closes the connection without an answer, after the request was read in full. */
  | 'drop'
  /** Sends half of an answer, then closes. */
  | 'cut'
  /** Never answers. */
  | 'hang';

/**
 * An HTTP server on loopback whose strings the test holds: each request is handed to `answer`, in the
 * order of arrival. For properties of a real socket: headers, bodies, broken connections, limits.
 */
export class ScriptedMaas {
  readonly requests: SeenRequest[] = [];
  answer: (request: SeenRequest, index: number) => Script = () => ({ status: 200, body: {} });
  readonly #server: Server;
  // A client of another test may still call a port that is ours now: it does not know this path.
  readonly #own = `/${randomUUID()}`;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Answers these in turn, the last one for ever. */
  script(...steps: Script[]): void {
    let next = 0;
    this.answer = () => steps[Math.min(next++, steps.length - 1)] ?? { status: 500 };
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Ends in `/MAAS`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#own}/MAAS`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (!request.url?.startsWith(`${this.#own}/`)) {
      response.writeHead(404).end();
      return;
    }
    const seen: SeenRequest = {
      method: request.method ?? '',
      url: request.url.slice(this.#own.length),
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    this.requests.push(seen);
    const script = this.answer(seen, this.requests.length - 1);
    if (script === 'hang') return;
    if (script === 'drop') {
      request.socket.destroy();
      return;
    }
    if (script === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"system_id": "abc', () => request.socket.destroy());
      return;
    }
    const isText = typeof script.body === 'string';
    const body = script.body === undefined ? '' : isText ? (script.body as string) : JSON.stringify(script.body);
    const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
    response.writeHead(script.status, { 'content-type': type, ...script.headers });
    response.end(body);
  }
}
