import { z } from 'zod';
import type { Need } from '../../access.ts';
import { NAMED_KINDS, type NamedKind } from '../../names.ts';
import { takesNames } from '../named-ids.ts';
import { below, gone, tagged } from '../route.ts';

/** Ids of Fuel's objects are whole numbers from 1, up to the database's limit. */
export const LARGEST_ID = 2_147_483_647;

/** An id in a path or a query. */
export const idText = (of: string) =>
  takesNames(
    z.coerce
      .number('must be a whole number')
      .int()
      .min(1)
      .max(LARGEST_ID)
      .describe(`Id of the ${of}${orName(of)}.`),
    of,
  );

/** An id in a body. */
export const idNumber = (of: string) =>
  takesNames(
    z
      .int()
      .min(1)
      .max(LARGEST_ID)
      .describe(`Id of the ${of}${orName(of)}.`),
    of,
  );

const orName = (of: string): string => ((NAMED_KINDS as readonly string[]).includes(of) ? ', or its name' : '');

/** Ids in a query, with commas between them; read it with `idsIn`. Names are taken in place of ids. */
export const idList = (of: NamedKind, description: string) =>
  takesNames(z.string().max(100_000), of, true)
    .optional()
    .describe(`${description}, separated by commas; or their names.`);

/** Path of one thing by id. */
export const idParams = (of: string) => z.strictObject({ id: idText(of) });

/** Path of one thing by id, and of a named part of it. */
const namedParams = (of: string, part: string) =>
  idParams(of).extend({ name: z.string().min(1).max(1000).describe(`Name of the ${part}.`) });

/** A list in a query, with commas between its members; read it with `listIn` or `idsIn`. */
export const commaList = (of: string) => z.string().max(100_000).optional().describe(`${of}, separated by commas.`);

/**
 * A flag of a query as Fuel's clients write it; read it with `isSet`. It is described as what a client should send, and
 * programs made from the description do: `true` or `false`.
 */
export const flagText = z
  .enum(['0', '1', 'true', 'false', 'True', 'False', 'yes', 'no', 'on', 'off', 't', 'f', ''])
  .meta({ type: 'boolean', enum: undefined });

/** Routes for the roles or tags of a release or cluster: list, create, show, replace, delete. */
export function namedPartRoutes<
  const Part extends 'role' | 'tag',
  One extends z.ZodType,
  List extends z.ZodType,
  Body extends z.ZodType,
>(
  kind: 'release' | 'cluster',
  part: Part,
  write: Need,
  { one, list, body }: { readonly one: One; readonly list: List; readonly body: Body },
  summaries: { readonly list: string; readonly replace: string; readonly delete: string },
) {
  const id = `${kind === 'release' ? 'Release' : 'Cluster'}${part === 'role' ? 'Role' : 'Tag'}`;
  const params = idParams(kind);
  const named = namedParams(kind, part);
  const routes = {
    'GET ': { id: `list${id}s`, access: 'viewer', summary: summaries.list, params, answers: { 200: list } },
    'POST ': {
      id: `create${id}`,
      access: write,
      summary: `Create a ${part} of a ${kind}`,
      params,
      body,
      answers: { 201: one },
      also: [409],
    },
    'GET /:name': {
      id: `get${id}`,
      access: 'viewer',
      summary: `Show a ${part} of a ${kind}`,
      params: named,
      answers: { 200: one },
    },
    'PUT /:name': {
      id: `replace${id}`,
      access: write,
      summary: summaries.replace,
      params: named,
      body,
      answers: { 200: one },
      also: [409],
    },
    'DELETE /:name': {
      id: `delete${id}`,
      access: write,
      summary: summaries.delete,
      params: named,
      answers: gone,
      also: [409],
    },
  } as const;
  return tagged(`${part}s`, below(`/${part}s`, routes));
}
