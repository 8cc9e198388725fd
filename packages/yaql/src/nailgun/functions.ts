import { asYaqlError } from '../runtime/call-site.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { p, rest } from '../runtime/parameters.ts';
import { callFunction } from '../runtime/value-call.ts';
import { Dict } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import { isIterableValue, iterate } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { isUndefinedMarker, undefinedMarker } from '../values/undefined-marker.ts';
import { difference } from './difference.ts';
import { toJson } from './to-json.ts';
import { toYaml } from './to-yaml.ts';

const fn = chapterOf('changes');

/** Variables no expression can name: the lexer knows no percent sign. */
export const newVariable = '%new';
export const oldVariable = '%old';

const onNew = (context: Context, expression: Lambda): Value => expression.call1(context.variable(newVariable));

/** Whatever goes wrong on the old data means that it was not there; only exhausted budgets of time and depth still end the evaluation. */
function onOld(context: Context, expression: Lambda): Value {
  try {
    return expression.call1(context.variable(oldVariable));
  } catch (error) {
    const failure = asYaqlError(error, 'old');
    if (failure.errorClass === 'StepQuotaExceededException' || failure.errorClass === 'RecursionError') throw failure;
    return undefinedMarker;
  }
}

const finalized = (context: Context, value: Value): Value => callFunction(context, '#finalize', [value]);

function isChanged(context: Context, expression: Lambda): boolean {
  const now = finalized(context, onNew(context, expression));
  const before = finalized(context, onOld(context, expression));
  return !equals(now, before);
}

/** Both sides of an expression, with the limit on elements applied. */
function bothSides(context: Context, expression: Lambda): [before: Value, after: Value] {
  const limited = (value: Value): Value =>
    isIterableValue(value) || value instanceof Dict ? context.runtime.limitIterable(value) : value;
  const after = limited(onNew(context, expression));
  return [limited(onOld(context, expression)), after];
}

export const changeFunctions: readonly FunctionDefinition[] = [
  fn('new', 'function', [p.lambda('expression')], 'The expression on the new data.', onNew),
  fn(
    'old',
    'function',
    [p.lambda('expression')],
    'The expression on the data of the last successful run; the undefined marker when it cannot be evaluated there.',
    onOld,
  ),
  fn(
    'changed',
    'function',
    [p.lambda('expression')],
    'Whether the expression gives something else on the new data than on the old; errors on the new data are errors.',
    isChanged,
  ),
  fn(
    'changedAll',
    'function',
    [rest(p.lambda('expressions'))],
    'Whether all expressions have changed; true for none.',
    (context, expressions) => expressions.every((expression) => isChanged(context, expression)),
  ),
  fn(
    'changedAny',
    'function',
    [rest(p.lambda('expressions'))],
    'Whether one of the expressions has changed; false for none.',
    (context, expressions) => expressions.some((expression) => isChanged(context, expression)),
  ),
  fn(
    'added',
    'function',
    [p.lambda('expression')],
    "The parts of the expression's result on the new data that the old lacks: elements, keys, lines or the value; all of it when there is no old value.",
    (context, expression) => {
      const [before, after] = bothSides(context, expression);
      return isUndefinedMarker(before) ? after : difference(before, after, () => context.runtime.step()).added;
    },
  ),
  fn(
    'deleted',
    'function',
    [p.lambda('expression')],
    "The parts of the expression's result on the old data that the new lacks; null when there is no old value.",
    (context, expression) => {
      const [before, after] = bothSides(context, expression);
      return isUndefinedMarker(before) ? null : difference(before, after, () => context.runtime.step()).deleted;
    },
  ),
  fn(
    'isUndef',
    'method',
    [p.any('receiver')],
    'Whether the receiver is the undefined marker of `old`.',
    (context, value) => isUndefinedMarker(finalized(context, value)),
  ),
];

export const serializerFunctions: readonly FunctionDefinition[] = [
  fn('toYaml', 'method', [p.any('receiver')], 'The receiver as a YAML document with sorted keys.', (context, value) =>
    toYaml(finalized(context, value)),
  ),
  fn('toJson', 'method', [p.any('receiver')], 'The receiver as JSON.', (context, value) =>
    toJson(finalized(context, value)),
  ),
];

/** The part of that name in a node's network scheme; else, by endpoint, the parts of that name. Null without a scheme. */
function schemePart(node: Value, part: string): Value {
  const scheme = node instanceof Dict ? node.get('network_scheme') : undefined;
  if (!(scheme instanceof Dict)) return null;
  const whole = scheme.get(part);
  if (whole !== undefined) return whole;
  const found = new Dict(false);
  const endpoints = scheme.get('endpoints');
  for (const [name, endpoint] of endpoints instanceof Dict ? endpoints.entries() : []) {
    const value = endpoint instanceof Dict ? endpoint.get(part) : undefined;
    if (value !== undefined) found.set(name, value);
  }
  return found;
}

const nodeFunctions: readonly FunctionDefinition[] = [
  fn(
    'network_scheme',
    'method',
    [p.iterable('nodes'), p.string('part')],
    "Of each node, this part of its network scheme, such as `roles` or `transformations`; or, by endpoint, the endpoints' values under this name, such as `routes` or `IP`; null for a node without a scheme.",
    (_, nodes, part) => [...iterate(nodes)].map((node) => schemePart(node, part)),
  ),
  fn('network_scheme', 'method', [p.mapping('node'), p.string('part')], 'The same of one node.', (_, node, part) =>
    schemePart(node, part),
  ),
];

/** All functions that computable task fields have beyond the standard library. */
export const nailgunFunctions: readonly FunctionDefinition[] = [
  ...changeFunctions,
  ...serializerFunctions,
  ...nodeFunctions,
];
