import type { IncomingHttpHeaders } from 'node:http';
import type { Payload } from '@temporalio/common';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { EncryptionCodec } from './encryption-codec.ts';
import type { PayloadPlace } from './payload-place.ts';

const base64 = z.base64();
const body = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), base64).optional(), data: base64.nullish() }))
    .max(10_000),
});

/** The missing permission of a request with these headers for decoding or encoding payloads; undefined: none. */
export type CodecAuthorization = (
  headers: IncomingHttpHeaders,
  direction: 'encode' | 'decode',
) => Promise<{ readonly status: 401 | 403; readonly message: string; readonly hint: string } | undefined>;

/**
 * The HTTP service with which Temporal's Web UI and CLI show encrypted payloads (`POST /codec/decode`). Those who may use
 * it can read everything. It serves only one browser origin.
 *
 * @param origin of the Web UI, e.g. `http://127.0.0.1:8233`
 * @param authorize asked before a body is read; absent: all who can reach the endpoint may use it
 */
export function createCodecEndpoint(
  codec: EncryptionCodec,
  origin: string,
  authorize?: CodecAuthorization,
): FastifyInstance {
  const endpoint = Fastify({ bodyLimit: 16 * 1024 * 1024 });
  const allowed = new URL(origin).origin;
  endpoint.addHook('onRequest', async (request, reply) => {
    const from = request.headers.origin;
    if (from !== undefined && from !== allowed)
      return reply.code(403).send({ message: `this endpoint serves only pages of ${allowed}` });
    void reply.headers({
      'access-control-allow-origin': allowed,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type, x-namespace, authorization',
      'access-control-allow-credentials': 'true',
      'cache-control': 'no-store',
      vary: 'origin',
    });
  });
  endpoint.setErrorHandler((error, _request, reply) => {
    const { statusCode = 400 } = error as { statusCode?: number };
    if (statusCode === 413) void reply.header('connection', 'close');
    return reply.code(statusCode).send({ message: error instanceof Error ? error.message : 'bad request' });
  });
  endpoint.options('/codec/:direction', (_request, reply) => reply.code(204).send());
  for (const direction of ['encode', 'decode'] as const) {
    const onRequest = async ({ headers }: FastifyRequest, reply: FastifyReply) => {
      const refusal = await authorize?.(headers, direction);
      if (refusal === undefined) return undefined;
      const { status, ...said } = refusal;
      if (status === 401) void reply.header('www-authenticate', 'Bearer realm="sitewright"');
      // No body of a stranger is read.
      return reply.code(status).header('connection', 'close').send(said);
    };
    endpoint.post(`/codec/${direction}`, { onRequest }, async (request, reply) => {
      const read = body.safeParse(request.body);
      if (!read.success)
        return reply
          .code(400)
          .send({ message: 'the body must be {"payloads": [{"metadata": {…}, "data": "base64"}]}' });
      const payloads = read.data.payloads.map(fromJson);
      // The Web UI and the CLI name a namespace, and no workflow.
      const own = [request.headers['x-namespace'] ?? []].flat();
      const isOwn = (place: PayloadPlace) => own.length === 0 || place.length === 0 || place[0] === own[0];
      const made = direction === 'encode' ? codec.encodeAt(payloads, own) : codec.decodeIf(payloads, isOwn);
      return { payloads: made.map(toJson) };
    });
  }
  return endpoint;
}

type JsonPayload = z.output<typeof body>['payloads'][number];

const bytes = (text: string): Uint8Array => Buffer.from(text, 'base64');
const text = (data: Uint8Array): string => Buffer.from(data).toString('base64');

const fromJson = ({ metadata = {}, data }: JsonPayload): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, bytes(value)])),
  data: bytes(data ?? ''),
});

const toJson = ({ metadata, data }: Payload): JsonPayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [key, text(value)])),
  data: text(data ?? new Uint8Array()),
});
