import type { FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import { p } from '../runtime/parameters.ts';
import { equals } from '../values/equality.ts';

const fn = chapterOf('comparison');

type Sign = '<' | '<=' | '>' | '>=';
/** Null is below everything else and equal to itself. */
const withNull: readonly (readonly [Sign, boolean, boolean, boolean])[] = [
  // operator, value against null, null against value, null against null
  ['<', false, true, false],
  ['<=', false, true, true],
  ['>', true, false, false],
  ['>=', true, false, true],
];

export const comparisonFunctions: readonly FunctionDefinition[] = [
  fn(
    '*equal',
    'function',
    [p.any('left'), p.any('right')],
    'Equality by value; never fails. 1 = 1.0 = true.',
    (_, a, b) => equals(a, b),
  ),
  fn('*not_equal', 'function', [p.any('left'), p.any('right')], 'The opposite of `=`.', (_, a, b) => !equals(a, b)),
  ...withNull.flatMap(([sign, valueNull, nullValue, nullNull]) => [
    fn(
      `#operator_${sign}`,
      'function',
      [p.present('left'), p.null('right')],
      'Null is below everything.',
      () => valueNull,
    ),
    fn(
      `#operator_${sign}`,
      'function',
      [p.null('left'), p.present('right')],
      'Null is below everything.',
      () => nullValue,
    ),
    fn(`#operator_${sign}`, 'function', [p.null('left'), p.null('right')], 'Null equals null.', () => nullNull),
  ]),
];
