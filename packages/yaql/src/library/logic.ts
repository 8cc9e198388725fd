import type { FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { p, rest } from '../runtime/parameters.ts';
import { lazily } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { isTruthy, toIndex } from './shared.ts';

const boolean = chapterOf('boolean');
const branching = chapterOf('branching');

export const booleanFunctions: readonly FunctionDefinition[] = [
  boolean(
    '#operator_and',
    'function',
    [p.lambda('left'), p.lambda('right')],
    'The left operand when it counts as false, else the right one.',
    (_, left, right) => {
      const value = left.call0();
      return isTruthy(value) ? right.call0() : value;
    },
  ),
  boolean(
    '#operator_or',
    'function',
    [p.lambda('left'), p.lambda('right')],
    'The left operand when it counts as true, else the right one.',
    (_, left, right) => {
      const value = left.call0();
      return isTruthy(value) ? value : right.call0();
    },
  ),
  boolean(
    '#unary_operator_not',
    'function',
    [p.any('arg')],
    'Whether the operand counts as false.',
    (_, value) => !isTruthy(value),
  ),
  boolean(
    'bool',
    'function',
    [p.any('value')],
    'Whether the value counts as true: all but null, false, zero and empty values; iterators always do.',
    (_, value) => isTruthy(value),
  ),
  boolean(
    'isBoolean',
    'function',
    [p.any('value')],
    'Whether the value is true or false.',
    (_, value) => typeof value === 'boolean',
  ),
];

export const branchingFunctions: readonly FunctionDefinition[] = [
  branching(
    'switch',
    'function',
    [rest(p.lazyRule('args'))],
    'Value of the first rule `condition => value` whose condition holds; null when none does.',
    (_, rules) => {
      for (const rule of rules) if (isTruthy(rule.source())) return rule.destination();
      return null;
    },
    { keepsRules: true },
  ),
  branching(
    'selectCase',
    'function',
    [rest(p.lambda('args'))],
    'Index of the first true argument; the number of arguments when none is.',
    (_, conditions) => {
      const index = conditions.findIndex((condition) => isTruthy(condition.call0()));
      return index < 0 ? conditions.length : index;
    },
  ),
  branching('selectAllCases', 'function', [rest(p.lambda('args'))], 'Indexes of all true arguments.', (_, conditions) =>
    lazily(trueIndexes(conditions)),
  ),
  branching('examine', 'function', [rest(p.lambda('args'))], 'For each argument whether it is true.', (_, conditions) =>
    lazily(truths(conditions)),
  ),
  branching(
    'switchCase',
    'method',
    [p.int('case'), rest(p.lambda('args'))],
    'The argument with the index of the receiver; the last one when there is none.',
    (_, index, args) => {
      const chosen = args[toIndex(index)] ?? args[args.length - 1];
      return chosen === undefined ? null : chosen.call0();
    },
  ),
  branching('coalesce', 'function', [rest(p.lambda('args'))], 'The first argument that is not null.', (_, args) => {
    for (const argument of args) {
      const value = argument.call0();
      if (value !== null) return value;
    }
    return null;
  }),
];

function* trueIndexes(conditions: readonly Lambda[]): Generator<Value> {
  for (const [i, condition] of conditions.entries()) if (isTruthy(condition.call0())) yield i;
}

function* truths(conditions: readonly Lambda[]): Generator<Value> {
  for (const condition of conditions) yield isTruthy(condition.call0());
}
