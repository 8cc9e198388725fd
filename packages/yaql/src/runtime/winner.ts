import type { Value } from '../values/kind.ts';
import { work } from '../values/work.ts';
import type { Code, StaticArgument } from './code.ts';
import type { Context, FunctionDefinition } from './context.ts';
import { Lambda, type LazyRule } from './lambda.ts';
import type { Parameter, ParameterType } from './parameter.ts';

type Conversion = 'plain' | 'integer' | 'iterable' | 'lambda' | 'code' | 'keyword' | 'lazy-rule';

function conversionOf(type: ParameterType): Conversion {
  switch (type.role) {
    case 'value':
      return type.iterable ? 'iterable' : type.coercesBooleans ? 'integer' : 'plain';
    case 'lambda':
    case 'method-lambda':
      return 'lambda';
    case 'expression':
    case 'keyword-expression':
      return 'code';
    case 'keyword':
      return 'keyword';
    case 'lazy-rule':
      return 'lazy-rule';
  }
}

/** Where the value of one parameter comes from. */
interface Step {
  /** Index of a positional argument, or of a named one counted from -1 down; null for the fallback. */
  readonly index: number | null;
  readonly conversion: Conversion;
  readonly fallback: Value | undefined;
}

interface BoundCall {
  readonly call: {
    readonly positional: readonly (StaticArgument | null)[];
    readonly named: ReadonlyMap<string, StaticArgument>;
  };
  readonly names: readonly string[];
}

/** An overload chosen for a call, with the mapping of its arguments. */
export class Winner {
  readonly definition: FunctionDefinition;
  readonly #steps: readonly Step[];
  readonly #codes: readonly (Code | null)[];
  readonly #namedCodes: readonly (Code | null)[];
  readonly #restFrom: number;
  readonly #restConversion: Conversion | null;
  readonly #keywordIndexes: readonly number[];
  readonly #keywordNames: readonly string[];
  readonly #keywordConversion: Conversion | null;

  constructor(definition: FunctionDefinition, bound: BoundCall) {
    this.definition = definition;
    const args = bound.call.positional;
    this.#codes = args.map((a) => a?.code ?? null);
    this.#namedCodes = bound.names.map((name) => bound.call.named.get(name)?.code ?? null);
    const used = new Set<string>();
    this.#steps = definition.parameters.map((parameter: Parameter, i) => {
      const conversion = conversionOf(parameter.type);
      const named = bound.names.indexOf(parameter.name);
      if (i < args.length && args[i] !== null) return { index: i, conversion, fallback: undefined };
      if (named >= 0) {
        used.add(parameter.name);
        return { index: -1 - named, conversion, fallback: undefined };
      }
      return { index: null, conversion, fallback: parameter.fallback };
    });
    this.#restFrom = definition.parameters.length;
    this.#restConversion = definition.rest === null ? null : conversionOf(definition.rest.type);
    this.#keywordNames = bound.names.filter((name) => !used.has(name));
    this.#keywordIndexes = this.#keywordNames.map((name) => bound.names.indexOf(name));
    this.#keywordConversion = definition.keywords === null ? null : conversionOf(definition.keywords.type);
  }

  /** Converts the arguments and runs the implementation; the result has passed the memory quota. */
  invoke(caller: Context, values: readonly Value[], namedValues: readonly Value[]): Value {
    const definition = this.definition;
    const steps = this.#steps;
    const context = definition.ownContext ? caller.child() : caller;
    const args: unknown[] = new Array(steps.length);
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i] as Step;
      const { index } = step;
      if (index === null) args[i] = step.fallback;
      else if (index >= 0)
        args[i] = convert(step.conversion, values[index] as Value, this.#codes[index] ?? null, context);
      else
        args[i] = convert(
          step.conversion,
          namedValues[-1 - index] as Value,
          this.#namedCodes[-1 - index] ?? null,
          context,
        );
    }
    if (this.#restConversion !== null) {
      const more: unknown[] = [];
      for (let i = this.#restFrom; i < values.length; i++)
        more.push(convert(this.#restConversion, values[i] as Value, this.#codes[i] ?? null, context));
      args.push(more);
    }
    if (this.#keywordConversion !== null) {
      const named = new Map<string, unknown>();
      this.#keywordNames.forEach((name, i) => {
        const index = this.#keywordIndexes[i] as number;
        named.set(
          name,
          convert(
            this.#keywordConversion as Conversion,
            namedValues[index] as Value,
            this.#namedCodes[index] ?? null,
            context,
          ),
        );
      });
      args.push(named);
    }
    const result = run(definition, context, args);
    const runtime = context.runtime;
    runtime.payForWork();
    if (runtime.quota > 0) runtime.checkMemory(result);
    return result;
  }
}

function run(definition: FunctionDefinition, context: Context, args: readonly unknown[]): Value {
  const { implementation } = definition;
  switch (args.length) {
    case 0:
      return implementation(context);
    case 1:
      return implementation(context, args[0]);
    case 2:
      return implementation(context, args[0], args[1]);
    case 3:
      return implementation(context, args[0], args[1], args[2]);
    default:
      return implementation(context, ...args);
  }
}

/** `value` is the result of an evaluated argument; unevaluated ones have only their code. */
function convert(conversion: Conversion, value: Value, code: Code | null, context: Context): unknown {
  const runtime = context.runtime;
  switch (conversion) {
    case 'plain':
      if (typeof value === 'string') work.elements += value.length >> 4;
      if (runtime.quota > 0) runtime.checkMemory(value);
      return value;
    case 'integer':
      return value === true ? 1 : value === false ? 0 : value;
    case 'iterable':
      if (value === null) return null;
      if (runtime.quota > 0) runtime.checkMemory(value);
      return runtime.limitIterable(value);
    case 'lambda':
      if (code !== null) return new Lambda(code, null, context);
      return value instanceof Lambda ? value.rebound(context) : new Lambda(null, value, context);
    case 'code':
      return code;
    case 'keyword':
      return code?.node.type === 'constant' ? code.node.value : value;
    case 'lazy-rule':
      return code === null ? value : lazyRule(code, context);
  }
}

function lazyRule(code: Code, context: Context): LazyRule {
  const sides = code as Code & { source: Code; destination: Code };
  return { source: () => sides.source.run(context), destination: () => sides.destination.run(context) };
}
