import { isMapping, kindOf, setKey, type ValuePath } from '../../core/data/plain-value.ts';
import { GraphProblemError } from '../problem.ts';

import { FormatText, mayFormat } from './python-format.ts';

/**
 * A field of a task, prepared for many nodes: constants are evaluated once, texts with `{NAME}` are
 * parsed once, and each `{yaql_exp: …}` has its path.
 */
export type Template =
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'format'; readonly text: FormatText }
  | { readonly kind: 'yaql'; readonly expression: string; readonly path: ValuePath }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'mapping'; readonly entries: readonly (readonly [string, Template])[] };

export const isExpression = (value: unknown): value is { readonly yaql_exp: unknown } =>
  isMapping(value) && Object.hasOwn(value, 'yaql_exp');

/** Throws GraphProblemError for a `yaql_exp` that cannot be evaluated. `path` leads from the task to the value. */
export function compileTemplate(value: unknown, path: ValuePath = []): Template {
  if (typeof value === 'string') {
    return mayFormat(value) ? { kind: 'format', text: new FormatText(value) } : { kind: 'constant', value };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, at) => compileTemplate(item, [...path, at]));
    return items.every(({ kind }) => kind === 'constant') ? { kind: 'constant', value } : { kind: 'list', items };
  }
  if (!isMapping(value)) return { kind: 'constant', value };
  if (isExpression(value)) return { kind: 'yaql', expression: expressionOf(value, path), path };
  const entries = Object.entries(value).map(([key, item]): [string, Template] => [
    key,
    // Braces have another meaning in regular expressions.
    key === 'regex' ? { kind: 'constant', value: item } : compileTemplate(item, [...path, key]),
  ]);
  if (entries.every(([, { kind }]) => kind === 'constant')) return { kind: 'constant', value };
  return { kind: 'mapping', entries };
}

function expressionOf(value: Readonly<Record<string, unknown>>, path: ValuePath): string {
  const expression = value.yaql_exp;
  if (typeof expression !== 'string') {
    throw new GraphProblemError(
      'graph.bad-expression',
      `yaql_exp must be text, not ${kindOf(expression)}`,
      'Write the expression in quotes.',
      [...path, 'yaql_exp'],
    );
  }
  if (Object.hasOwn(value, 'yaql_exp_arg')) {
    throw new GraphProblemError('graph.bad-expression', 'yaql_exp takes no argument', 'Remove yaql_exp_arg.', [
      ...path,
      'yaql_exp_arg',
    ]);
  }
  return expression;
}

/** Dependencies of a template. */
export interface TemplateScope {
  fill(text: FormatText): string;
  /** The value of an expression as plain JSON data. */
  evaluate(expression: string, path: ValuePath): unknown;
}

/** The value on one node. Values are shared between nodes: never change one. */
export function instantiate(template: Template, scope: TemplateScope): unknown {
  switch (template.kind) {
    case 'constant':
      return template.value;
    case 'format':
      return scope.fill(template.text);
    case 'yaql':
      return scope.evaluate(template.expression, template.path);
    case 'list':
      return template.items.map((item) => instantiate(item, scope));
    case 'mapping': {
      const out: Record<string, unknown> = {};
      for (const [key, item] of template.entries) setKey(out, key, instantiate(item, scope));
      return out;
    }
  }
}

/** Every expression in a template, with its path. */
export function* expressionsIn(
  template: Template,
): Generator<{ readonly expression: string; readonly path: ValuePath }> {
  if (template.kind === 'yaql') yield template;
  else if (template.kind === 'list') for (const item of template.items) yield* expressionsIn(item);
  else if (template.kind === 'mapping') for (const [, item] of template.entries) yield* expressionsIn(item);
}
