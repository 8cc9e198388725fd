import type { FastifyInstance, FastifyRequest } from 'fastify';
import { changes, isForThisMachine, isFromOwnPage } from '../../platform/own-pages.ts';
import { RequestError } from '../problems/transport-problem.ts';

/**
 * Keeps other sites' pages away from an API that asks for no credentials. Being reachable from this machine only does not
 * exclude pages that a browser on it loads from elsewhere: a page can send requests anywhere, and its host name can
 * be pointed here (DNS rebinding). So the API answers under names of this machine alone, and takes changes from no
 * page but its own. With tokens neither is needed: no page of others has one, and a token in a cookie permits changes to
 * our own page only (`requireOwnPage`).
 */
export function answerOwnPagesOnly(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const { host } = request.headers;
    if (!isForThisMachine(request)) {
      throw new RequestError({
        code: 'forbidden',
        message: `without tokens the API only serves host names of this machine, not ${JSON.stringify(String(host).slice(0, 200))}`,
        hint: 'Use 127.0.0.1 or localhost. For other names, such as behind a proxy, turn tokens on: access.tokens.',
      });
    }
    if (changes(request) && !isFromOwnPage(request, request.protocol)) {
      throw new RequestError({
        code: 'forbidden',
        message: 'without tokens the API accepts changes only from its own page and from programs',
        hint: 'Use the page at the address of the API, or turn tokens on: access.tokens.',
      });
    }
  });
}

/** Refuses a request that a browser sent for a foreign or unknown page. @throws RequestError */
export function requireOwnPage(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (
    site === 'same-origin' ||
    (site === undefined && origin !== undefined && isFromOwnPage(request, request.protocol))
  )
    return;
  throw new RequestError({
    code: 'forbidden',
    message: 'a cookie permits changes only to the page at the address of the API',
    hint: "Programs send 'Authorization: Bearer TOKEN' instead.",
  });
}
