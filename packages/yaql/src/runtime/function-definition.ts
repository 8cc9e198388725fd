import { YaqlError } from '../errors.ts';
import type { Value } from '../values/kind.ts';
import type { Context, FunctionDefinition, Implementation } from './context.ts';
import type { Parameter } from './parameter.ts';
import { isLazy } from './parameters.ts';

/** Arguments of implementations for a list of parameters. */
type Received<P extends readonly Parameter<unknown>[]> = {
  [I in keyof P]: P[I] extends Parameter<infer T> ? T : never;
};

export interface FunctionSpec<P extends readonly Parameter<unknown>[]> {
  readonly name: string;
  /** `function`: `f(x)`; `method`: `x.f()`; `both`. */
  readonly call: 'function' | 'method' | 'both';
  readonly parameters: P;
  readonly documentation: string;
  readonly chapter?: string;
  readonly keepsRules?: boolean;
  readonly ownContext?: boolean;
  /** Gets the calling context and one argument for each parameter. */
  readonly implementation: (context: Context, ...args: Received<P>) => Value;
}

/** Builds an overload. InvalidMethodException for a method without a receiver that is evaluated. */
export function defineFunction<const P extends readonly Parameter<unknown>[]>(
  spec: FunctionSpec<P>,
): FunctionDefinition {
  const isMethod = spec.call !== 'function';
  const first = spec.parameters[0];
  if (isMethod && (first === undefined || first.position === 'keywords' || isLazy(first.type)))
    throw new YaqlError('InvalidMethodException', `Function '${spec.name}' cannot be called as a method`);
  return {
    name: spec.name,
    isFunction: spec.call !== 'method',
    isMethod,
    keepsRules: spec.keepsRules ?? false,
    ownContext: spec.ownContext ?? false,
    parameters: spec.parameters.filter((x) => x.position === 'single'),
    rest: spec.parameters.find((x) => x.position === 'rest') ?? null,
    keywords: spec.parameters.find((x) => x.position === 'keywords') ?? null,
    implementation: spec.implementation as Implementation,
    documentation: spec.documentation,
    chapter: spec.chapter ?? 'helpers',
  };
}

/** A short form for the library: `fn('where', 'method', [..], 'doc', implementation)`. */
export const chapterOf =
  (chapter: string) =>
  <const P extends readonly Parameter<unknown>[]>(
    name: string,
    call: 'function' | 'method' | 'both',
    parameters: P,
    documentation: string,
    implementation: (context: Context, ...args: Received<P>) => Value,
    more: { readonly keepsRules?: boolean; readonly ownContext?: boolean } = {},
  ): FunctionDefinition =>
    defineFunction({ name, call, parameters, documentation, implementation, chapter, ...more });

/** The same implementation under another name. */
export const renamed = (definition: FunctionDefinition, name: string): FunctionDefinition => ({ ...definition, name });
