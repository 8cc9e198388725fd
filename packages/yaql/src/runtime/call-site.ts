import { YaqlError } from '../errors.ts';
import type { Node } from '../language/syntax-tree.ts';
import { type Kind, kindName, kindOf, type Value } from '../values/kind.ts';
import { withoutEnd } from '../values/text-ends.ts';
import type { Code, StaticArgument } from './code.ts';
import type { Candidates, Context } from './context.ts';
import {
  chooseOverload,
  constantKind,
  kindsKey,
  type Plan,
  planCall,
  resolutionError,
  type StaticCall,
} from './resolution.ts';
import type { Winner } from './winner.ts';

/** Takes trailing underscores off: the names of functions never have them. */
export const functionKey = (name: string): string => withoutEnd(name, '_');

const none: readonly Value[] = [];

/**
 * One call in an expression. Since the overload depends only on the kinds of arguments, the site remembers its choice
 * for each combination of kinds, as long as the context offers the same overloads.
 */
export class CallSite {
  readonly #name: string;
  readonly #node: Node;
  readonly #args: readonly (Code | null)[];
  readonly #destinationOf: (rule: Code) => Code;
  /** How many arguments before `args` arrive as values: the receiver of a method, or the left side of a dot. */
  readonly #leading: 0 | 1;
  readonly #isMethod: boolean;
  #candidates: Candidates | null = null;
  #plans: (Plan | undefined)[] = [];
  #plan: Plan | null = null;
  #lastKey: number | string = -1;
  #lastWinner: Winner | null = null;

  constructor(
    name: string,
    node: Node,
    args: readonly (Code | null)[],
    destinationOf: (rule: Code) => Code,
    style: 'function' | 'method' | 'function-with-value',
  ) {
    this.#name = functionKey(name);
    this.#node = node;
    this.#args = args;
    this.#destinationOf = destinationOf;
    this.#isMethod = style === 'method';
    this.#leading = style === 'function' ? 0 : 1;
  }

  /** Makes the call. Every error leaves with a place, the function's name and, where known, kinds of arguments. */
  invoke(context: Context, leadingValue: Value | undefined): Value {
    const runtime = context.runtime;
    let values: Value[] | null = null;
    runtime.depth++;
    try {
      if (--runtime.steps < 0) throw new YaqlError('StepQuotaExceededException', 'The evaluation takes too many steps');
      if (runtime.depth > runtime.options.maxDepth)
        throw new YaqlError('RecursionError', 'maximum recursion depth exceeded');
      const plan = this.#planFor(context, leadingValue);
      if (plan.failure !== null) throw resolutionError(plan.failure, plan.candidates, leadingValue);
      const { call, evaluated, names } = plan;
      const { positional } = call;
      const iterableDicts = runtime.options.iterableDicts;
      values = new Array<Value>(positional.length);
      let key: number | string = iterableDicts ? 1 : 0;
      for (let i = 0; i < positional.length; i++) {
        const argument = positional[i] as StaticArgument | null;
        if (argument === null) values[i] = null;
        else if (argument.code === null) values[i] = leadingValue as Value;
        else if (evaluated[i] === true) {
          const value = argument.code.run(context);
          values[i] = value;
          key = key * 32 + kindOf(value) + 1;
        } else values[i] = argument.kind === -1 ? null : argument.code.run(context);
      }
      const namedValues = names.length === 0 ? none : this.#evaluateNamed(plan, context);
      if (names.length > 0 || evaluated.length > 9) key = this.#fullKey(plan, values, namedValues, iterableDicts);
      // Evaluating the arguments may have re-entered this call site, with another plan.
      let winner = plan === this.#plan && key === this.#lastKey ? this.#lastWinner : null;
      if (winner === null) {
        winner = this.#resolve(plan, key, values, namedValues, iterableDicts, leadingValue);
        if (plan === this.#plan) {
          this.#lastKey = key;
          this.#lastWinner = winner;
        }
      }
      return winner.invoke(context, values, namedValues);
    } catch (error) {
      throw this.#located(error, values, leadingValue);
    } finally {
      runtime.depth--;
    }
  }

  #planFor(context: Context, leadingValue: Value | undefined): Plan {
    const overloads = context.lookup(this.#name);
    const candidates = this.#isMethod ? overloads.methods : overloads.functions;
    if (candidates !== this.#candidates) {
      this.#candidates = candidates;
      this.#plans = [];
      this.#plan = null;
      this.#lastKey = -1;
      this.#lastWinner = null;
    }
    const leadingKind = this.#leading === 1 ? kindOf(leadingValue as Value) : 0;
    let plan = this.#plans[leadingKind];
    if (plan === undefined) {
      const positional: (StaticArgument | null)[] = this.#args.map((code) =>
        code === null ? null : { code, kind: constantKind(code.node) },
      );
      if (this.#leading === 1) positional.unshift({ code: null, kind: leadingKind as Kind });
      const call: StaticCall = { positional, named: new Map() };
      plan = planCall(candidates, call, this.#destinationOf, context.runtime.options.iterableDicts);
      this.#plans[leadingKind] = plan;
    }
    if (plan !== this.#plan) {
      this.#plan = plan;
      this.#lastKey = -1;
      this.#lastWinner = null;
    }
    return plan;
  }

  #evaluateNamed(plan: Plan, context: Context): Value[] {
    return plan.names.map((name, i) => {
      const argument = plan.call.named.get(name) as StaticArgument;
      const constant = argument.kind !== -1;
      return plan.evaluatedNamed[i] === true || constant ? (argument.code as Code).run(context) : null;
    });
  }

  #kinds(plan: Plan, values: readonly Value[]): (Kind | -1)[] {
    return plan.call.positional.map((argument, i) =>
      plan.evaluated[i] === true ? kindOf(values[i] as Value) : (argument?.kind ?? -1),
    );
  }

  #namedKinds(plan: Plan, namedValues: readonly Value[]): (Kind | -1)[] {
    return plan.names.map((name, i) =>
      plan.evaluatedNamed[i] === true ? kindOf(namedValues[i] as Value) : (plan.call.named.get(name)?.kind ?? -1),
    );
  }

  #fullKey(plan: Plan, values: readonly Value[], namedValues: readonly Value[], iterableDicts: boolean): string {
    return `k${kindsKey(this.#kinds(plan, values), this.#namedKinds(plan, namedValues), iterableDicts)}`;
  }

  #resolve(
    plan: Plan,
    key: number | string,
    values: readonly Value[],
    namedValues: readonly Value[],
    iterableDicts: boolean,
    leadingValue: Value | undefined,
  ): Winner {
    let outcome = plan.outcomes.get(key);
    if (outcome === undefined) {
      outcome = chooseOverload(plan, this.#kinds(plan, values), this.#namedKinds(plan, namedValues), iterableDicts);
      plan.outcomes.set(key, outcome);
    }
    if (typeof outcome === 'string') throw resolutionError(outcome, plan.candidates, leadingValue);
    return outcome;
  }

  #located(error: unknown, values: readonly Value[] | null, leadingValue: Value | undefined): YaqlError {
    const located = asYaqlError(error, this.#name);
    if (located.offset === null) {
      located.offset = this.#node.type === 'binary' ? this.#node.at : this.#node.start;
      located.functionName = this.#name;
      located.argumentTypes = this.#shownKinds(values, leadingValue);
    }
    return located;
  }

  #shownKinds(values: readonly Value[] | null, leadingValue: Value | undefined): string[] {
    const kinds = this.#args.map((code, i) => {
      if (code === null) return 'skipped';
      const index = i + this.#leading;
      const known = this.#plan?.evaluated[index] === true && values !== null && values[index] !== undefined;
      if (known) return kindName(kindOf((values as readonly Value[])[index] as Value));
      const constant = constantKind(code.node);
      return constant === -1 ? 'expression' : kindName(constant);
    });
    if (this.#leading === 1) kinds.unshift(kindName(kindOf(leadingValue as Value)));
    return kinds;
  }
}

/** Anything thrown, as an error of the language; any other error is from the host or a full stack. */
export function asYaqlError(error: unknown, functionName: string): YaqlError {
  if (error instanceof YaqlError) return error;
  // No pattern here: compiling one may itself fail where the stack is full, as an error of another class.
  if (error instanceof Error && error.message.includes('Maximum call stack size'))
    return new YaqlError('RecursionError', 'maximum recursion depth exceeded');
  if (error instanceof RangeError)
    return new YaqlError('MemoryQuotaExceededException', 'Expression consumed too much memory', { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new YaqlError('HelperError', `"${functionName}" failed: ${message}`, { cause: error });
}
