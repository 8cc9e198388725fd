import type { Value } from '../values/kind.ts';

/** How an argument reaches a function. */
export type ParameterRole =
  /** Evaluated before the call. */
  | 'value'
  /** Evaluated by the function, as often as it likes. */
  | 'lambda'
  /** Like `lambda`, for the right side of a dot: only a call. */
  | 'method-lambda'
  /** The expression itself. */
  | 'expression'
  /** A bare word; the function gets its text. */
  | 'keyword'
  /** A bare word; the function gets the expression. */
  | 'keyword-expression'
  /** `condition => value`, both evaluated by the function. */
  | 'lazy-rule';

export interface ParameterType {
  /** For documentation and messages. */
  readonly name: string;
  readonly role: ParameterRole;
  /** Kinds of values it takes, as bits. */
  readonly accepts: number;
  /** Takes dicts too when the engine's `iterableDicts` is on, and applies the limit on elements. */
  readonly iterable: boolean;
  /** Booleans arrive as 0 and 1. */
  readonly coercesBooleans: boolean;
  /** The Python class behind it, by which one overload is more special than another. */
  readonly pythonClass: string | null;
}

/** A parameter of a function of the language; `T` is the type of the implementation's argument. */
export interface Parameter<T = unknown> {
  /** As keyword arguments spell it. */
  readonly name: string;
  readonly type: ParameterType;
  readonly position: 'single' | 'rest' | 'keywords';
  readonly required: boolean;
  /** Value when it is left out; `undefined` lets the implementation see that. */
  readonly fallback: Value | undefined;
  /** Only for inference. */
  readonly received?: T;
}
