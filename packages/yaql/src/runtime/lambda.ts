import { Kind, type Value, ValueObject } from '../values/kind.ts';
import type { Code } from './code.ts';
import { Context } from './context.ts';

/** A `key => value` argument whose sides the function evaluates lazily. */
export interface LazyRule {
  source(): Value;
  destination(): Value;
}

/**
 * A function value: an expression with the context it was written in, or a plain value that acts as a constant.
 * Arguments become `$1` (also `$`), `$2` … and named ones `$name`.
 */
export class Lambda extends ValueObject {
  /** Null if it is a plain value. */
  readonly code: Code | null;
  readonly #constant: Value;
  readonly #context: Context;

  constructor(code: Code | null, constant: Value, context: Context) {
    super();
    this.code = code;
    this.#constant = constant;
    this.#context = context;
  }

  override get kind(): Kind {
    return Kind.Callable;
  }

  /** Without arguments the outer `$` stays visible. */
  call0(): Value {
    return this.code === null ? this.#constant : this.code.run(this.#context);
  }

  call1(a: Value): Value {
    if (this.code === null) return this.#constant;
    const context = new Context(this.#context);
    context.first = a;
    return this.code.run(context);
  }

  call2(a: Value, b: Value): Value {
    if (this.code === null) return this.#constant;
    const context = new Context(this.#context);
    context.first = a;
    context.setVariable('2', b);
    return this.code.run(context);
  }

  call(args: readonly Value[], named: ReadonlyMap<string, Value> | null): Value {
    if (this.code === null) return this.#constant;
    const context = new Context(this.#context);
    for (const [i, value] of args.entries()) context.setVariable(String(i + 1), value);
    if (named !== null) for (const [name, value] of named) context.setVariable(name, value);
    return this.code.run(context);
  }

  /** Evaluates in a given context instead of the one it was written in. */
  callIn(context: Context): Value {
    return this.code === null ? this.#constant : this.code.run(context);
  }

  /** As the right side of a dot. */
  callMethod(receiver: Value): Value {
    return this.callMethodIn(this.#context, receiver);
  }

  callMethodIn(context: Context, receiver: Value): Value {
    const run = this.code?.runMethod;
    return run === null || run === undefined ? this.callIn(context) : run(context, receiver);
  }

  /** The same expression in another context: the meaning of passing a function value as a lambda. */
  rebound(context: Context): Lambda {
    return new Lambda(this.code, this.#constant, context);
  }
}
