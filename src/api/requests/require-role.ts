import type { FastifyRequest } from 'fastify';
import type { Role } from '../../core/words.ts';
import { refusalOf } from '../access/guard.ts';
import { RequestError } from '../problems/transport-problem.ts';

/** Refuses a request whose path does not show that it needs a larger role than its route. Without tokens everyone may. */
export function requireRole({ principal }: Pick<FastifyRequest, 'principal'>, role: Role): void {
  if (principal === undefined) return;
  const refusal = refusalOf({ kind: 'known', principal, byCookie: false }, role);
  if (refusal !== undefined) throw new RequestError(refusal);
}
