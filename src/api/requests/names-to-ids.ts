import type { FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { namedIdsOf } from '../../core/contracts/named-ids.ts';
import { isMapping, printPath } from '../../core/data/plain-value.ts';
import type { NameAnswer, NamedKind } from '../../core/names.ts';
import { controlCharacterInText } from '../../core/text/control-characters.ts';
import { problem } from '../../ops/index.ts';
import { partsOf } from './check-request.ts';

interface Find {
  find(kind: NamedKind, name: string): Promise<NameAnswer>;
  /** The id of a run by its number or workflow id. */
  run(reference: string): Promise<string>;
}

/** Where tasks may be that are on no node. */
const NO_NODES: ReadonlySet<string> = new Set(['master', 'null']);

/** Names that one request may have looked up. */
const MOST_NAMES = 1000;

/**
 * Puts ids for the names of a request, in its path, query and body, wherever its route takes an id of something that has a
 * name: before the request is checked. What looks like a number is left to that check.
 */
export const namesToIds =
  (find: Find) =>
  (route: RouteOptions): void => {
    const parts = partsOf(route);
    const replace = async (request: FastifyRequest): Promise<void> => {
      const lookUp = new NamesOfRequest(find);
      for (const [part, key, schema] of parts)
        if (schema !== undefined) request[key] = await lookUp.replaced(schema, request[key], [part]);
    };
    route.preValidation = [replace, ...[route.preValidation ?? []].flat()];
  };

class NamesOfRequest {
  readonly #find: Find;
  #left = MOST_NAMES;

  constructor(find: Find) {
    this.#find = find;
  }

  /** @param at path, query or body, and the place in it */
  async replaced(schema: unknown, value: unknown, at: readonly (string | number)[]): Promise<unknown> {
    const ids = namedIdsOf(schema);
    if (ids?.kind === 'run')
      return typeof value === 'string' && controlCharacterInText(value) === undefined ? this.#find.run(value) : value;
    if (ids !== undefined && this.#isName(value)) {
      if (!ids.isList) return this.#idOf(ids.kind, value, at);
      const found: unknown[] = [];
      for (const one of value.split(',').map((part) => part.trim()))
        found.push(this.#isName(one) ? await this.#idOf(ids.kind, one, at, NOT_NUMBERS) : one);
      return found.join(',');
    }
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
      return this.replaced(schema.unwrap(), value, at);
    if (schema instanceof z.ZodArray && Array.isArray(value)) {
      const found: unknown[] = [];
      for (const [index, one] of value.entries()) found.push(await this.replaced(schema.element, one, [...at, index]));
      return found;
    }
    if (schema instanceof z.ZodObject && isMapping(value)) {
      const found: Record<string, unknown> = {};
      for (const [name, part] of Object.entries(schema.shape))
        if (Object.hasOwn(value, name)) found[name] = await this.replaced(part, value[name], [...at, name]);
      return { ...value, ...found };
    }
    return value;
  }

  #isName(text: unknown): text is string {
    return (
      typeof text === 'string' &&
      this.#left > 0 &&
      !NO_NODES.has(text) &&
      !/^[\s\d+.,[\]-]*$/.test(text) &&
      controlCharacterInText(text) === undefined
    );
  }

  async #idOf(kind: NamedKind, name: string, at: readonly (string | number)[], said?: string): Promise<number> {
    this.#left -= 1;
    const answer = await this.#find.find(kind, name);
    if (answer.ok) return answer.id;
    const { why, message, hint } = answer;
    // What the path names is not found; what is asked of it is invalid.
    const code = why === 'unknown' && at[0] === 'path' ? 'not-found' : 'invalid';
    const errors = [{ severity: 'error', code: `request.${why}-name`, message, hint, path: printPath(at) }] as const;
    if (said === undefined) throw problem(code, message, { hint, errors });
    throw problem(code, said, { hint, errors });
  }
}

/** Clients of the Fuel line know this sentence. */
const NOT_NUMBERS = 'Comma-separated numbers list expected';
