import type { TLSSocket } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from '../platform/telemetry/log.ts';
import { type GatewayRuleParts, GatewayRules, type KnownCaller, problemOf } from './gateway-rules.ts';
import type { IssuedCertificate } from './identity/certificate-authority.ts';
import { fingerprintOf } from './identity/key-pair.ts';
import { Refusal } from './refusal.ts';
import { LARGEST_CHUNK } from './wire.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the gateway: the node whose certificate the connection has; on every route but enrolment. */
    caller?: KnownCaller;
  }
}

const ENROL = '/v1/enrol';
/** A token and a request for a certificate have less than 2 KB. */
const LARGEST_ENROLMENT = 16 * 1024;

interface GatewayParts extends GatewayRuleParts {
  readonly log: Logger;
}

/**
 * The service for agents. A client certificate identifies the node; only enrolment works without one, by token. Never
 * logs bodies, and no answer repeats its request.
 */
export function createGateway(
  parts: GatewayParts,
  server: Pick<IssuedCertificate, 'pem'> & { key: string },
): FastifyInstance {
  const gateway = Fastify({
    https: {
      key: server.key,
      cert: server.pem,
      ca: parts.authority.certificate,
      requestCert: true,
      // Enrolment has no certificate; every other route checks it.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    },
    bodyLimit: 512 * 1024,
    // Slow senders do not hold a connection for ever.
    requestTimeout: 60_000,
    logger: false,
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance;
  const rules = new GatewayRules(parts);
  gateway.addContentTypeParser(
    'application/octet-stream',
    { parseAs: 'buffer', bodyLimit: LARGEST_CHUNK },
    (_request, body, done) => done(null, body),
  );
  gateway.setErrorHandler((error, _request, reply) => answerProblem(error, reply, parts.log));
  gateway.setNotFoundHandler((_request, reply) => reply.code(404).send({ code: 'no-route', message: 'no such route' }));
  const attempts = new RefusedAddresses(() => parts.now().getTime());
  // Nothing is read of a request from who may not send it.
  gateway.decorateRequest('caller');
  gateway.addHook('onRequest', async (request, reply) => {
    if (request.is404) return;
    if (request.routeOptions.url !== ENROL) {
      request.caller = await rules.callerOf(fingerprintIn(request));
      return;
    }
    const seconds = attempts.mustWait(request.ip);
    if (seconds === undefined) return;
    void reply.header('retry-after', seconds);
    throw new Refusal(429, 'too-many', `too many requests with tokens that are not valid; try again in ${seconds} s`);
  });
  gateway.post(ENROL, { bodyLimit: LARGEST_ENROLMENT }, async (request) => {
    try {
      return await rules.enrol(request.body);
    } catch (error) {
      if (error instanceof Refusal && error.code !== 'malformed') attempts.add(request.ip);
      throw error;
    }
  });
  for (const [url, { method, answer }] of Object.entries(rules.routes))
    gateway.route({
      url,
      method,
      handler: async ({ caller, body, query }, reply) => {
        const content = await answer(caller!, body, query);
        if (content === undefined) return reply.code(204).send();
        if (content instanceof Uint8Array) return reply.type('application/octet-stream').send(Buffer.from(content));
        return reply.send(content);
      },
    });
  return gateway;
}

/** Of the connection's certificate, if our authority has issued it. */
function fingerprintIn({ raw }: FastifyRequest): string | undefined {
  const socket = raw.socket as TLSSocket;
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? undefined : fingerprintOf(certificate.raw);
}

function answerProblem(error: unknown, reply: FastifyReply, log: Logger): FastifyReply {
  const { status, body, fault } = problemOf(error);
  if (status === 413) void reply.header('connection', 'close');
  if (fault !== undefined) log.error({ err: { message: fault } }, 'a request of an agent failed');
  return reply.code(status).send(body);
}

const WINDOW_MS = 60_000;
/** Of one address within the window. A node that starts has one token and one key: it is hardly ever refused. */
const MAX = 20;
/** How many addresses are kept in mind; the longest known are forgotten. */
const MAX_ADDRESSES = 20_000;

/** Counts refusals by address, so that anyone who tries tokens has to wait. */
class RefusedAddresses {
  readonly #counts = new Map<string, { readonly until: number; count: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Seconds until the address may try again; undefined: now. */
  mustWait(address: string): number | undefined {
    const entry = this.#counts.get(address);
    if (entry === undefined || entry.count < MAX || this.#isOver(entry.until)) return undefined;
    return Math.ceil((entry.until - this.#now()) / 1000);
  }

  add(address: string): void {
    const entry = this.#counts.get(address);
    if (entry !== undefined && !this.#isOver(entry.until)) {
      entry.count += 1;
      return;
    }
    this.#counts.delete(address);
    this.#counts.set(address, { until: this.#now() + WINDOW_MS, count: 1 });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_ADDRESSES && oldest !== undefined) this.#counts.delete(oldest);
  }

  /** Also when the clock was set back. */
  #isOver(until: number): boolean {
    const left = until - this.#now();
    return left <= 0 || left > WINDOW_MS;
  }
}
