import type { FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { Diagnostic } from '../../core/diagnostic.js';
import { checkSchema, unplaced } from '../../documents/index.js';
import { InvalidPart } from '../problems/transport-problem.js';
import { requestWords } from './request-words.js';

/** No one reads more of them. */
const MOST_ERRORS = 100;

/**
 * Checks path, query and body of each request against its route's schemas, before the handler, and replaces them
 * by what the schemas make of them. It reports all problems of all three parts at once: so Fastify's own check, which
 * stops at the first bad part, is not used.
 */
export function checkRequestsOf(route: RouteOptions): void {
  const { params, querystring, body } = (route.schema ?? {}) as Record<string, unknown>;
  const parts = [
    ['path', 'params', params],
    ['query', 'query', querystring],
    ['body', 'body', body],
  ] as const;
  const checks = parts.flatMap(([name, key, schema]) => (schema instanceof z.ZodType ? [{ name, key, schema }] : []));
  if (checks.length === 0) return;
  const check = async (request: FastifyRequest): Promise<void> => {
    const errors: Diagnostic[] = [];
    for (const { name, key, schema } of checks) {
      // Nothing sent and nothing needed are the same: `{}`.
      const value = request[key] === undefined && key === 'body' ? {} : request[key];
      const result = checkSchema(schema, value, { at: [name], words: requestWords(name) });
      if (result.ok) request[key] = result.value;
      else errors.push(...result.problems.map(unplaced));
    }
    if (errors.length > 0) throw new InvalidPart(errors.slice(0, MOST_ERRORS));
  };
  route.preValidation = [check, ...[route.preValidation ?? []].flat()];
}
