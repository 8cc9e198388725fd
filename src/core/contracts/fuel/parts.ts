import { z } from 'zod';

/** Ids of Fuel's things are whole numbers from 1; what the database can hold. */
export const LARGEST_ID = 2_147_483_647;

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

/** A flag of a query as Fuel's clients write it; read it with `isSet`. */
export const flagText = z.enum(['0', '1', 'true', 'false', 'True', 'False', 'yes', 'no', 'on', 'off', 't', 'f', '']);
