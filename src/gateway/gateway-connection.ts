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

/** One node's connection to the gateway: mutual TLS. Rejects with `GatewayRefused` when a retry is useless. */
export class GatewayConnection {
  readonly #url: string;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  constructor(address: GatewayAddress, identity?: NodeKey, timeoutMs = 60_000) {
    this.#url = withoutEnd(address.url, '/');
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({
      connections: 4,
      // A token or secret must never go to a server that merely has the address.
      connect: {
        ca: address.authority,
        rejectUnauthorized: true,
        ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
      },
    });
  }

  async ask<S extends z.ZodType>(path: string, body: Body | undefined, answer: S): Promise<z.output<S>> {
    const bytes = await this.bytes(path, body);
    return answer.parse(JSON.parse(bytes.toString('utf8')));
  }

  /** The raw body of the answer. */
  async bytes(path: string, body?: Body): Promise<Buffer> {
    const response = await send(`${this.#url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(this.#timeoutMs),
      ...(body === undefined
        ? {}
        : 'json' in body
          ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body.json) }
          : { headers: { 'content-type': 'application/octet-stream' }, body: Buffer.from(body.bytes) }),
    });
    const content = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode < 300) return content;
    throw problemOf(response.statusCode, content);
  }

  async close(): Promise<void> {
    await this.#agent.close();
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
