import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
    if (host !== undefined && !isNameOfThisMachine(host)) {
      throw new RequestError({
        code: 'forbidden',
        message: `without tokens the API only serves host names of this machine, not ${JSON.stringify(host.slice(0, 200))}`,
        hint: 'Use 127.0.0.1 or localhost. For other names, such as behind a proxy, turn tokens on: access.tokens.',
      });
    }
    if (changes(request) && !isFromOwnPage(request)) {
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
  if (site === 'same-origin' || (site === undefined && origin !== undefined && isFromOwnPage(request))) return;
  throw new RequestError({
    code: 'forbidden',
    message: 'a cookie permits changes only to the page at the address of the API',
    hint: "Programs send 'Authorization: Bearer TOKEN' instead.",
  });
}

export const changes = ({ method }: FastifyRequest): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method);

/** As a request names it, with or without a port. */
function isNameOfThisMachine(host: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  if (bracketed !== undefined) return bracketed === '::1';
  const name = (plain ?? '').toLowerCase().replace(/\.$/, '');
  if (isIP(name) === 4) return name.startsWith('127.');
  // RFC 6761: no server of names is asked for these.
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Browsers send the origin of a change; other programs do not. */
function isFromOwnPage({ headers, protocol }: FastifyRequest): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin === undefined || origin.toLowerCase() === `${protocol}://${host ?? ''}`.toLowerCase();
}
