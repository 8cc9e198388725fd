import type { z } from 'zod';
import { OrderWithdrawn, RunHeld, type TaskResult } from '../agent/index.ts';
import { given } from '../core/data/given.ts';
import { checkSchema, DOCUMENT_WORDS } from '../documents/index.ts';
import { fileErrorCode } from '../platform/files/file-errors.ts';
import { StoreError } from '../store/index.ts';
import { type EnrolmentParts, enrol, renew } from './enrolment.ts';
import { HandOut, type HandOutParts } from './hand-out.ts';
import type { Caller } from './order-desk.ts';
import type { LogSink } from './ports.ts';
import { Refusal } from './refusal.ts';
import {
  alarmRequest,
  cancelRequest,
  drainRequest,
  enrolRequest,
  HELD,
  orderRequest,
  outputRequest,
  renewRequest,
  resultRequest,
  secretRequest,
  sourceRequest,
  WITHDRAWN,
} from './wire.ts';

export interface GatewayRuleParts extends EnrolmentParts, HandOutParts {
  readonly logs: LogSink;
}

/** The node whose certificate a connection has. */
export type KnownCaller = Caller & { readonly fingerprint: string };

/** Undefined: an answer without content. Bytes are sent as they are, everything else as JSON. */
type Answer = object | Uint8Array | undefined;

interface Route {
  readonly method: 'GET' | 'POST';
  answer(caller: KnownCaller, body: unknown, query: unknown): Promise<Answer> | Answer;
}

/** What the gateway answers, and to whom, whatever brings its requests. */
export class GatewayRules {
  readonly #parts: GatewayRuleParts;
  readonly #handOut: HandOut;

  constructor(parts: GatewayRuleParts) {
    this.#parts = parts;
    this.#handOut = new HandOut(parts);
  }

  /** The only request without a certificate. */
  async enrol(body: unknown): Promise<object> {
    const { token, request } = readable(enrolRequest, body);
    return enrol(this.#parts, token, request);
  }

  /**
   * The caller, by the connection's certificate and its record in the store.
   *
   * @param fingerprint of a certificate that our authority has issued; undefined if the connection has none
   */
  async callerOf(fingerprint: string | undefined): Promise<KnownCaller> {
    if (fingerprint === undefined) throw new Refusal(401, 'no-certificate', 'this requires the certificate of a node');
    const { identities, now, alarms } = this.#parts;
    const known = await identities.findCertificate(fingerprint);
    if (known === null) throw new Refusal(401, 'unknown-certificate', 'the certificate is unknown');
    const { site, node, revokedAt, reason } = known;
    if (revokedAt !== null) {
      await alarms({ site, node, kind: 'revoked-certificate', message: `a revoked certificate was used: ${reason}` });
      throw new Refusal(401, 'revoked', 'the certificate has been revoked');
    }
    // A connection may outlive its certificate.
    if (Date.parse(known.expiresAt) < now().getTime()) throw new Refusal(401, 'expired', 'the certificate has expired');
    return { site, node, fingerprint };
  }

  /** By path, of callers with a certificate. */
  readonly routes: Readonly<Record<string, Route>> = {
    '/v1/renew': post((caller, body) => renew(this.#parts, caller, readable(renewRequest, body).request)),
    '/v1/order-keys': { method: 'GET', answer: () => ({ order_keys: this.#parts.orderKeys.publicKeys() }) },
    '/v1/order': post((caller, body) => {
      const { debug, ...key } = readable(orderRequest, body);
      return this.#handOut.signedOrder(caller, { ...key, ...given({ debug }) });
    }),
    '/v1/cancel': post(async (caller, body) => ({
      proof: await this.#handOut.cancel(caller, readable(cancelRequest, body)),
    })),
    '/v1/drain': post(async (caller, body) => ({
      proof: await this.#handOut.drain(caller, readable(drainRequest, body).instance),
    })),
    '/v1/secret': post(async (caller, body) => {
      const { ref, ...key } = readable(secretRequest, body);
      return { value: await this.#handOut.secret(caller, key, ref) };
    }),
    '/v1/source': post((caller, body) => {
      const { path, ...key } = readable(sourceRequest, body);
      return this.#handOut.source(caller, key, path);
    }),
    '/v1/output': post(async (caller, body, query) => {
      const { stream, offset, ...key } = readable(outputRequest, query);
      if (!Buffer.isBuffer(body)) throw new Refusal(400, 'malformed', 'the chunk of output is missing');
      await this.#handOut.own(caller, key);
      await this.#parts.logs.append(key, { kind: 'output', stream, offset, bytes: body });
      return undefined;
    }),
    '/v1/result': post(async (caller, body) => {
      const { result, ...key } = readable(resultRequest, body);
      await this.#handOut.own(caller, key);
      await this.#parts.logs.append(key, { kind: 'ended', result: result as unknown as TaskResult });
      return undefined;
    }),
    '/v1/alarm': post(async ({ site, node }, body) => {
      const { kind, message, ...details } = readable(alarmRequest, body);
      await this.#parts.alarms({ site, node, kind, message, details, reported: true });
      return undefined;
    }),
  };
}

const post = (answer: Route['answer']): Route => ({ method: 'POST', answer });

/** The request may contain tokens: no message shows it. */
const REQUEST_WORDS = { ...DOCUMENT_WORDS, yamlHints: false, showsValues: false };

function readable<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = checkSchema(schema, value, { words: REQUEST_WORDS });
  if (read.ok) return read.value;
  throw new Refusal(
    400,
    'malformed',
    read.problems
      .map(({ message }) => message)
      .slice(0, 10)
      .join('; ')
      .slice(0, 1000),
  );
}

interface ProblemAnswer {
  readonly status: number;
  readonly body: { readonly code: string; readonly message: string; readonly file_code?: string };
  /** Ours, for the log: the body does not tell. */
  readonly fault?: string;
}

/** What a failed request is answered. */
export function problemOf(error: unknown): ProblemAnswer {
  if (error instanceof Refusal) return { status: error.status, body: { code: error.code, message: error.message } };
  if (error instanceof RunHeld) return { status: 503, body: { code: HELD!, message: error.message } };
  if (error instanceof OrderWithdrawn) return { status: 403, body: { code: WITHDRAWN!, message: error.message } };
  const { statusCode, message } = error as { statusCode?: number; message: string };
  const file_code = fileErrorCode(error);
  if (file_code !== undefined) return { status: 422, body: { code: 'source', message, file_code } };
  if (statusCode !== undefined && statusCode < 500)
    return { status: statusCode, body: { code: 'malformed', message: 'the request cannot be read' } };
  const passing = error instanceof StoreError;
  const body = { code: passing ? 'store' : 'defect', message: 'the gateway cannot do this now' };
  return { status: passing ? 503 : 500, body, fault: message };
}
