import type { TLSSocket } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from '../platform/telemetry/log.ts';
import { type GatewayRuleParts, GatewayRules, type KnownCaller, problemOf } from './gateway-rules.ts';
import type { IssuedCertificate } from './identity/certificate-authority.ts';
import { fingerprintOf } from './identity/index.ts';
import { Refusal } from './refusal.ts';
import { RefusedAddresses } from './refused-addresses.ts';
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
