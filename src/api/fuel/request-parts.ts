import { LARGEST_ID } from '../../core/contracts/fuel/parts.ts';
import { RequestError } from '../problems/transport-problem.ts';

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

/** Whether a flag of a query is set. Not given, or empty, is not set. */
export const isSet = (flag: string | undefined): boolean =>
  ['1', 'true', 'yes', 'on', 't'].includes((flag ?? '').toLowerCase());
