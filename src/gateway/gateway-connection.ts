import { Agent, request as send } from 'undici';
import type { z } from 'zod';
import { OrderRefused, OrderWithdrawn, RunHeld } from '../agent/index.ts';
import { withoutEnd } from '../core/text/text.ts';
import { HELD, problemAnswer, WITHDRAWN } from './wire.ts';

interface GatewayAddress {
  /** `https://host:port`. */
  readonly url: string;
  /** PEM of the only trusted authority. */
  readonly authority: string;
}

/** Key and certificate of a node, PEM. */
interface NodeKey {
  readonly key: string;
  readonly certificate: string;
}

/** A refusal with the gateway's message and code. */
export class GatewayRefused extends OrderRefused {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Body = { readonly json: unknown } | { readonly bytes: Uint8Array };

/** Brings requests to the gateway. */
export interface GatewayTransport {
  /** Resolves with the answer, whatever it says; rejects if there is none. Without a body it is a GET, otherwise a POST. */
  send(path: string, body?: { readonly type: string; readonly bytes: Buffer }): Promise<GatewayAnswer>;
  close(): Promise<void>;
}

interface GatewayAnswer {
  readonly status: number;
  readonly content: Buffer;
}

export type OpenTransport = (address: GatewayAddress, identity?: NodeKey) => GatewayTransport;

const TIMEOUT_MS = 60_000;

/** Mutual TLS. */
export const overTls: OpenTransport = ({ url, authority }, identity) => {
  const agent = new Agent({
    connections: 4,
    connect: {
      // A gateway that thousands come back to greets them one after the other; who gives up has to be greeted again.
      timeout: TIMEOUT_MS,
      // A token or secret must never go to a server that merely has the address.
      ca: authority,
      rejectUnauthorized: true,
      ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
    },
  });
  const root = withoutEnd(url, '/');
  return {
    async send(path, body) {
      const response = await send(`${root}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        dispatcher: agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body === undefined ? {} : { headers: { 'content-type': body.type }, body: body.bytes }),
      });
      return { status: response.statusCode, content: Buffer.from(await response.body.arrayBuffer()) };
    },
    close: () => agent.close(),
  };
};

/** One node's connection to the gateway. Rejects with `GatewayRefused` when a retry is useless. */
export class GatewayConnection {
  readonly #transport: GatewayTransport;

  constructor(address: GatewayAddress, identity?: NodeKey, open: OpenTransport = overTls) {
    this.#transport = open(address, identity);
  }

  async ask<S extends z.ZodType>(path: string, body: Body | undefined, answer: S): Promise<z.output<S>> {
    const bytes = await this.bytes(path, body);
    return answer.parse(JSON.parse(bytes.toString('utf8')));
  }

  /** The raw body of the answer. */
  async bytes(path: string, body?: Body): Promise<Buffer> {
    const sent =
      body === undefined
        ? undefined
        : 'json' in body
          ? { type: 'application/json', bytes: Buffer.from(JSON.stringify(body.json)) }
          : { type: 'application/octet-stream', bytes: Buffer.from(body.bytes) };
    const { status, content } = await this.#transport.send(path, sent);
    if (status < 300) return content;
    throw problemOf(status, content);
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }
}

function problemOf(status: number, content: Buffer): Error {
  let problem: z.output<typeof problemAnswer> = { code: `http-${status}`, message: `the gateway answered ${status}` };
  try {
    problem = problemAnswer.parse(JSON.parse(content.toString('utf8')));
  } catch {
    // A proxy answered.
  }
  if (problem.file_code !== undefined) return Object.assign(new Error(problem.message), { code: problem.file_code });
  if (problem.code === HELD) return new RunHeld(problem.message);
  if (problem.code === WITHDRAWN) return new OrderWithdrawn(problem.message);
  // 408 and 429 are temporary, and so are a proxy's answers while the gateway restarts.
  if (status >= 500 || status === 408 || status === 429) return new Error(problem.message);
  return new GatewayRefused(problem.code, problem.message);
}
