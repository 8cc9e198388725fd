import type { YaqlError } from './errors.ts';
import {
  legacyOperators,
  type OperatorGroups,
  type OperatorTable,
  operatorTable,
  standardOperators,
} from './language/operators.ts';
import { type Grammar, parseExpression } from './language/parser.ts';
import { printExpression } from './language/printer.ts';
import type { Node } from './language/syntax-tree.ts';
import { createStandardContext } from './library/standard-context.ts';
import { asYaqlError } from './runtime/call-site.ts';
import type { Code } from './runtime/code.ts';
import { Context, type FunctionDefinition } from './runtime/context.ts';
import { compile } from './runtime/evaluator.ts';
import { defineFunction, type FunctionSpec } from './runtime/function-definition.ts';
import { defaultOptions, type EvaluationOptions, Runtime } from './runtime/limits.ts';
import type { Parameter } from './runtime/parameter.ts';
import { callFunction } from './runtime/value-call.ts';
import { fromHost, toHost } from './values/conversion.ts';
import type { Value } from './values/kind.ts';

/** How an engine reads and evaluates; everything is optional. */
export interface EngineOptions extends Partial<EvaluationOptions> {
  /** The operators; default: {@link standardOperators}. */
  readonly operators?: OperatorGroups;
  /** Whether `value(args)` calls a value. */
  readonly allowDelegates?: boolean;
  /** Whether `True`, `False` and `None` are values, as people used to Python write them; else they are words. */
  readonly pythonLiterals?: boolean;
  /** The 0.2 language: `=>` builds tuples, dicts are iterable, tuples stay tuples. */
  readonly legacy?: boolean;
  /** Defines the names; default: a new standard context. */
  readonly context?: Context;
  /** How many parsed expressions are kept. */
  readonly cacheSize?: number;
}

/** Data and context of one evaluation. */
export interface EvaluateOptions {
  /** Evaluates in a child of this context; default: the engine's context. */
  readonly context?: Context;
  /** Further variables, by name, without conversion. */
  readonly variables?: Iterable<readonly [string, Value]>;
}

/** Parses and evaluates expressions. Reuse an engine: it caches parsed expressions. */
export class Engine {
  readonly options: EvaluationOptions;
  readonly context: Context;
  readonly #operators: OperatorTable;
  readonly #grammar: Grammar;
  readonly #cache = new Map<string, Expression>();
  readonly #cacheSize: number;

  constructor(options: EngineOptions = {}) {
    const {
      operators,
      allowDelegates = false,
      pythonLiterals = false,
      legacy = false,
      context,
      cacheSize = 1000,
      ...evaluation
    } = options;
    const forced = legacy ? { convertTuplesToLists: false, iterableDicts: true } : {};
    this.options = { ...defaultOptions, ...evaluation, ...forced };
    this.#operators = operatorTable(operators ?? (legacy ? legacyOperators : standardOperators));
    this.#grammar = { operators: this.#operators, allowDelegates, pythonLiterals };
    this.context = new Context(context ?? createStandardContext({ delegates: allowDelegates, legacy }));
    this.#cacheSize = cacheSize;
  }

  /** The parsed expression, from the cache when it was parsed before. Throws YaqlError for invalid text. */
  parse(text: string): Expression {
    let expression = this.#cache.get(text);
    if (expression === undefined) {
      expression = new Expression(this, text, parseExpression(text, this.#grammar), this.#operators);
      if (this.#cache.size >= this.#cacheSize) this.#cache.delete(this.#cache.keys().next().value as string);
      this.#cache.set(text, expression);
    }
    return expression;
  }

  /** Parses and evaluates; see {@link Expression.evaluate}. */
  evaluate(text: string, data?: unknown, options?: EvaluateOptions): Value {
    return this.parse(text).evaluate(data, options);
  }

  /** Adds a helper function to everything this engine evaluates in its own context. */
  register<const P extends readonly Parameter<unknown>[]>(spec: FunctionSpec<P>): void {
    this.context.register(defineFunction(spec));
  }

  registerDefinitions(definitions: Iterable<FunctionDefinition>): void {
    for (const definition of definitions) this.context.register(definition);
  }
}

/** A parsed expression of one engine, to be evaluated as often as needed. */
export class Expression {
  readonly engine: Engine;
  readonly text: string;
  readonly tree: Node;
  readonly #operators: OperatorTable;
  #code: Code | null = null;

  constructor(engine: Engine, text: string, tree: Node, operators: OperatorTable) {
    this.engine = engine;
    this.text = text;
    this.tree = tree;
    this.#operators = operators;
  }

  /** The expression as text, printed from its tree. */
  toString(): string {
    return printExpression(this.tree, this.#operators);
  }

  /**
   * The value for some data, converted as the engine's options say: plain lists and dicts by default. Data given as
   * `undefined` leaves `$` unset. Throws YaqlError, always with a place.
   */
  evaluate(data?: unknown, options: EvaluateOptions = {}): Value {
    const evaluation = this.engine.options;
    const context = new Context(options.context ?? this.engine.context, new Runtime(evaluation));
    try {
      if (data !== undefined) context.first = fromHost(data, evaluation.convertInputData ? 'immutable' : 'mutable');
      for (const [name, value] of options.variables ?? []) context.setVariable(name, value);
      return this.evaluateIn(context);
    } catch (error) {
      throw this.#located(error);
    }
  }

  /** The same as plain JavaScript; see `toHost`. */
  evaluateToHost(data?: unknown, options?: EvaluateOptions): unknown {
    return toHost(this.evaluate(data, options));
  }

  /** Evaluates directly in a context: its `$` is the data, and its budgets apply. */
  evaluateIn(context: Context): Value {
    try {
      this.#code ??= compile(this.tree);
      const value = this.#code.run(context);
      const finalizers = context.lookup('#finalize').functions;
      return finalizers.layers.length === 0 ? value : callFunction(context, '#finalize', [value]);
    } catch (error) {
      throw this.#located(error);
    }
  }

  #located(error: unknown): YaqlError {
    const located = asYaqlError(error, 'expression');
    if (located.expression === null) {
      located.expression = this.text;
      located.offset ??= this.tree.start;
    }
    return located;
  }
}

/** Makes an engine. */
export const createEngine = (options?: EngineOptions): Engine => new Engine(options);
