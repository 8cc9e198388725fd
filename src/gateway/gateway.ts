import type { TLSSocket } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { OrderWithdrawn, RunHeld, type TaskResult } from '../agent/index.ts';
import { given } from '../core/data/given.ts';
import { checkSchema, DOCUMENT_WORDS } from '../documents/index.ts';
import { fileErrorCode } from '../platform/files/file-errors.ts';
import type { Logger } from '../platform/telemetry/log.ts';
import { StoreError } from '../store/index.ts';
import { type EnrolmentParts, enrol, renew } from './enrolment.ts';
import { type Caller, HandOut, type HandOutParts } from './hand-out.ts';
import type { IssuedCertificate } from './identity/certificate-authority.ts';
import { fingerprintOf } from './identity/index.ts';
import type { LogSink } from './ports.ts';
import { Refusal } from './refusal.ts';
import { RefusedAddresses } from './refused-addresses.ts';
import {
  alarmRequest,
  cancelRequest,
  drainRequest,
  enrolRequest,
  HELD,
  LARGEST_CHUNK,
  orderRequest,
  outputRequest,
  renewRequest,
  resultRequest,
  secretRequest,
  sourceRequest,
  WITHDRAWN,
} from './wire.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the gateway: the node whose certificate the connection has; on every route but enrolment. */
    caller?: Caller & { readonly fingerprint: string };
  }
}

const ENROL = '/v1/enrol';
/** A token and a request for a certificate have less than 2 KB. */
const LARGEST_ENROLMENT = 16 * 1024;

interface GatewayParts extends EnrolmentParts, HandOutParts {
  readonly logs: LogSink;
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
  const handOut = new HandOut(parts);
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
      request.caller = await callerOf(parts, request);
      return;
    }
    const seconds = attempts.mustWait(request.ip);
    if (seconds === undefined) return;
    void reply.header('retry-after', seconds);
    throw new Refusal(429, 'too-many', `too many requests with tokens that are not valid; try again in ${seconds} s`);
  });
  const caller = ({ caller }: FastifyRequest): Caller & { fingerprint: string } => caller!;

  gateway.post(ENROL, { bodyLimit: LARGEST_ENROLMENT }, async (request) => {
    const { token, request: certificateRequest } = readable(enrolRequest, request.body);
    try {
      return await enrol(parts, token, certificateRequest);
    } catch (error) {
      if (error instanceof Refusal) attempts.add(request.ip);
      throw error;
    }
  });
  gateway.post('/v1/renew', async (request) => {
    const node = caller(request);
    return await renew(parts, node, readable(renewRequest, request.body).request);
  });
  gateway.get('/v1/order-keys', async () => {
    return { order_keys: parts.orderKeys.publicKeys() };
  });
  gateway.post('/v1/order', async (request) => {
    const node = caller(request);
    const { debug, ...key } = readable(orderRequest, request.body);
    return await handOut.order(node, { ...key, ...given({ debug }) });
  });
  gateway.post('/v1/cancel', async (request) => {
    const node = caller(request);
    return { proof: await handOut.cancel(node, readable(cancelRequest, request.body)) };
  });
  gateway.post('/v1/drain', async (request) => {
    const node = caller(request);
    return { proof: await handOut.drain(node, readable(drainRequest, request.body).instance) };
  });
  gateway.post('/v1/secret', async (request) => {
    const node = caller(request);
    const { ref, ...key } = readable(secretRequest, request.body);
    return { value: await handOut.secret(node, key, ref) };
  });
  gateway.post('/v1/source', async (request, reply) => {
    const node = caller(request);
    const { path, ...key } = readable(sourceRequest, request.body);
    const content = await handOut.source(node, key, path);
    return reply.type('application/octet-stream').send(Buffer.from(content));
  });
  gateway.post('/v1/output', async (request, reply) => {
    const node = caller(request);
    const { stream, offset, ...key } = readable(outputRequest, request.query);
    if (!Buffer.isBuffer(request.body)) throw new Refusal(400, 'malformed', 'the chunk of output is missing');
    await handOut.own(node, key);
    await parts.logs.append(key, { kind: 'output', stream, offset, bytes: request.body });
    return reply.code(204).send();
  });
  gateway.post('/v1/result', async (request, reply) => {
    const node = caller(request);
    const { result, ...key } = readable(resultRequest, request.body);
    await handOut.own(node, key);
    await parts.logs.append(key, { kind: 'ended', result: result as unknown as TaskResult });
    return reply.code(204).send();
  });
  gateway.post('/v1/alarm', async (request, reply) => {
    const node = caller(request);
    const { kind, message, ...details } = readable(alarmRequest, request.body);
    await parts.alarms({ site: node.site, node: node.node, kind, message, details, reported: true });
    return reply.code(204).send();
  });
  return gateway;
}

/** The caller, by the connection's certificate and its record in the store. */
async function callerOf(
  { identities, now, alarms }: GatewayParts,
  request: FastifyRequest,
): Promise<Caller & { readonly fingerprint: string }> {
  const socket = request.raw.socket as TLSSocket;
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) throw new Refusal(401, 'no-certificate', 'this requires the certificate of a node');
  const fingerprint = fingerprintOf(certificate.raw);
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

function answerProblem(error: unknown, reply: FastifyReply, log: Logger): FastifyReply {
  if (error instanceof Refusal) return reply.code(error.status).send({ code: error.code, message: error.message });
  if (error instanceof RunHeld) return reply.code(503).send({ code: HELD, message: error.message });
  if (error instanceof OrderWithdrawn) return reply.code(403).send({ code: WITHDRAWN, message: error.message });
  const { statusCode, message } = error as { statusCode?: number; message: string };
  const file_code = fileErrorCode(error);
  if (file_code !== undefined) return reply.code(422).send({ code: 'source', message, file_code });
  if (statusCode === 413) void reply.header('connection', 'close');
  if (statusCode !== undefined && statusCode < 500)
    return reply.code(statusCode).send({ code: 'malformed', message: 'the request cannot be read' });
  const passing = error instanceof StoreError;
  log.error({ err: { message } }, 'a request of an agent failed');
  return reply
    .code(passing ? 503 : 500)
    .send({ code: passing ? 'store' : 'defect', message: 'the gateway cannot do this now' });
}
