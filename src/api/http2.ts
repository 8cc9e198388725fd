import { constants, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** So many requests of a connection are under way at a time; browsers wait with more. */
const MOST_STREAMS = 100;

/** How the API is served: where TLS is on, over HTTP/2, whose streams share one connection of a browser, and over HTTP/1.1. */
export const serverOptions = (tls: { readonly cert: string; readonly key: string } | undefined): object =>
  tls === undefined
    ? {}
    : {
        http2: true,
        https: {
          ...{ ...tls, minVersion: 'TLSv1.2', allowHTTP1: true },
          settings: { maxConcurrentStreams: MOST_STREAMS },
        },
      };

/**
 * Makes a server for both treat them alike: the host that a request asks for has one name, by which foreign pages are told apart, and one
 * that does not arrive in time is cut off, so that slow senders keep nothing. Node.js does both for HTTP/1.1 alone.
 */
export function treatAlike(app: FastifyInstance, withinMs: number): void {
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    const { ':authority': authority } = headers;
    if (authority !== undefined) headers.host = String(authority);
  });
  const server = app.server as unknown as Http2SecureServer & { requestTimeout?: number };
  server.requestTimeout = withinMs;
  server.on('stream', (stream: ServerHttp2Stream) => {
    if (stream.endAfterHeaders) return;
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), withinMs);
    for (const event of ['end', 'close'] as const) stream.once(event, () => clearTimeout(timer));
  });
}

/** Ends a request without an answer: with HTTP/1.1 its connection, with HTTP/2 its stream. */
export function cutOff({ raw }: Pick<FastifyRequest, 'raw'>): void {
  const { stream } = raw as { readonly stream?: ServerHttp2Stream };
  if (stream === undefined) raw.socket.destroy();
  else stream.close(constants.NGHTTP2_CANCEL);
}
