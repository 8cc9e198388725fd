import type { FastifyRequest } from 'fastify';
import { actorName } from '../../core/contracts/primitives.ts';
import { RequestError } from '../problems/transport-problem.ts';

/**
 * The actor of a change: the name of their token. Without tokens, their own claim: in the body, else in the
 * header `X-Sitewright-User`, else `api`.
 */
export function actorOf(request: Pick<FastifyRequest, 'headers' | 'principal'>, said?: string): string {
  if (request.principal !== undefined) return request.principal.name;
  if (said !== undefined) return said;
  const header = request.headers['x-sitewright-user'];
  if (header === undefined || header === '') return 'api';
  // Node gives a header's bytes as Latin-1; names are sent as UTF-8.
  const name = Buffer.from(String(header), 'latin1').toString('utf8');
  if (actorName.safeParse(name).success) return name;
  throw new RequestError({
    code: 'invalid',
    message: 'the header X-Sitewright-User must have 1 to 200 characters and no control characters',
    hint: 'Correct or omit it.',
  });
}
