import { z } from 'zod';
import { RequestError } from '../problems/transport-problem.js';

/** Ids of Fuel's things are whole numbers from 1; what the database can hold. */
const LARGEST_ID = 2_147_483_647;

/** An id in a path or a query. */
export const idText = (of: string) =>
  z.coerce.number('must be a whole number').int().min(1).max(LARGEST_ID).describe(`Id of the ${of}.`);

/** An id in a body. */
export const idNumber = (of: string) => z.int().min(1).max(LARGEST_ID).describe(`Id of the ${of}.`);

/** Path of one thing by id. */
export const idParams = (of: string) => z.strictObject({ id: idText(of) });

/** Path of one thing by id, and of a named part of it. */
export const namedParams = (of: string, part: string) =>
  idParams(of).extend({ name: z.string().min(1).max(1000).describe(`Name of the ${part}.`) });

/** A list in a query, with commas between its members; read it with `listIn` or `idsIn`. */
export const commaList = (of: string) => z.string().max(100_000).optional().describe(`${of}, with commas between.`);

/** The members of a list with commas; undefined when it was not given. Blanks around members do not count. */
export const listIn = (text: string | undefined): readonly string[] | undefined =>
  text
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** The ids of a list with commas. @throws RequestError `Comma-separated numbers list expected` */
export function idsIn(text: string | undefined, name: string): readonly number[] | undefined {
  const items = listIn(text);
  if (items === undefined) return undefined;
  const odd = items.filter((one) => !/^[1-9]\d{0,9}$/.test(one) || Number(one) > LARGEST_ID);
  if (odd.length === 0) return items.map(Number);
  const message = 'Comma-separated numbers list expected';
  const named = odd.slice(0, 20);
  throw new RequestError({
    code: 'invalid',
    message,
    hint: `Not numbers: ${named.join(', ').slice(0, 200)}. Write ids as in ${name}=1,2,3.`,
    errors: [{ severity: 'error', code: 'request.wrong-value', message, path: `query.${name}` }],
  });
}

/** A flag of a query as Fuel's clients write it; read it with `isSet`. */
export const flagText = z.enum(['0', '1', 'true', 'false', 'True', 'False', 'yes', 'no', 'on', 'off', 't', 'f', '']);

/** Whether a flag of a query is set. Not given, or empty, is not set. */
export const isSet = (flag: string | undefined): boolean =>
  ['1', 'true', 'yes', 'on', 't'].includes((flag ?? '').toLowerCase());
