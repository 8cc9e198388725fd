import type { FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { printPath } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { controlCharacterInText, controlCharactersIn } from '../../core/text/control-characters.ts';
import { checkSchema, type SchemaWords, unplaced } from '../../documents/index.ts';
import { InvalidPart, RequestError } from '../problems/transport-problem.ts';

/** No one reads more of them. */
const MAX_ERRORS = 100;

/** The parts of a route's requests: for people, in a request, and as its schema has them. */
export function partsOf(route: RouteOptions) {
  const { params, querystring, body } = (route.schema ?? {}) as Record<string, unknown>;
  return [
    ['path', 'params', params],
    ['query', 'query', querystring],
    ['body', 'body', body],
  ] as const;
}

/**
 * Checks path, query and body of each request, before the handler: first that nothing in them has control characters,
 * then against its route's schemas; and replaces them by the parsed values. It reports all problems of all three parts
 * together: so Fastify's own check, which stops at the first bad part, is not used.
 */
export function checkRequestsOf(route: RouteOptions): void {
  const parts = partsOf(route);
  const check = async (request: FastifyRequest): Promise<void> => {
    const errors: Diagnostic[] = [];
    for (const [name, key, schema] of parts) {
      const controls = controlCharacters(name, request[key]);
      errors.push(...controls);
      if (controls.length > 0 || !(schema instanceof z.ZodType)) continue;
      // Nothing sent and nothing needed are the same: `{}`.
      const value = request[key] === undefined && key === 'body' ? {} : request[key];
      const result = checkSchema(schema, value, { at: [name], words: requestWords(name) });
      if (result.ok) request[key] = result.value;
      else errors.push(...result.problems.map(unplaced));
    }
    if (errors.length > 0) throw new InvalidPart(errors.slice(0, MAX_ERRORS));
  };
  route.preValidation = [check, ...[route.preValidation ?? []].flat()];
}

/** Refuses a request with control characters in its headers: names of users, tokens and requests come in them. */
export async function refuseControlCharacters({ headers }: FastifyRequest): Promise<void> {
  for (const [name, value] of Object.entries(headers)) {
    // Node.js gives a header's bytes as Latin-1; texts are sent as UTF-8.
    const character = controlCharacterInText(Buffer.from(String(value), 'latin1').toString('utf8'));
    if (character === undefined) continue;
    const message = `the header ${name} has the control character ${character}`;
    throw new RequestError({ code: 'invalid', message, hint: 'Remove it.' });
  }
}

/** Of JSON; other bodies have readers of their own. */
function controlCharacters(part: 'path' | 'query' | 'body', value: unknown): readonly Diagnostic[] {
  if (!isPlain(value)) return [];
  const found = controlCharactersIn(value, [part], { most: MAX_ERRORS, names: part === 'path' });
  return found.map(({ path, inKey, character }) => ({
    severity: 'error',
    code: 'request.control-character',
    message: `${inKey ? 'a key of ' : ''}${requestWords(part).nameOf(path)} has the control character ${character}`,
    hint: 'Remove it: texts may have tabs and line ends, names and keys no control characters at all.',
    path: printPath(path),
  }));
}

/** An object as parsers make them: of no class. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Words for the author of a request; `part` is the part with the value: path, query or body. */
const requestWords = (part: 'path' | 'query' | 'body'): SchemaWords => {
  // Paths begin with the part, names do not.
  const nameOf: SchemaWords['nameOf'] = ([, ...inner]) => printPath(inner) || `the ${part}`;
  return {
    codes: {
      missing: 'request.missing-field',
      'wrong-type': 'request.wrong-type',
      'wrong-value': 'request.wrong-value',
      unknown: 'request.unknown-field',
      more: 'request.more-problems',
    },
    mapping: 'an object',
    empty: 'null',
    key: 'field',
    nameOf,
    missing: (path) => `${nameOf(path)} is missing in the ${part}`,
    unknownIn: (path) => ` in ${nameOf(path)}`,
    yamlHints: false,
  };
};
