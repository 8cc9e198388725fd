import { createEngine, type Engine, type EngineOptions } from './engine.ts';
import { YaqlError } from './errors.ts';
import { decodeValue, type Encoded, encodeValue } from './interchange.ts';
import { createStandardContext } from './library/standard-context.ts';
import { newVariable, oldVariable } from './nailgun/functions.ts';
import { createTaskEngine, nodeState } from './nailgun/task-evaluation.ts';
import { Context, type FunctionDefinition } from './runtime/context.ts';
import { Dict } from './values/collections.ts';
import type { Value } from './values/kind.ts';

/** One expression with everything it needs, as conformance records and batch files have them (see `docs/reference/yaql.md`). */
export interface EvaluationRecord {
  readonly id: string;
  readonly expr: string;
  readonly factory?: 'standard' | 'legacy';
  readonly context?: 'standard' | 'legacy';
  readonly delegates?: boolean;
  readonly contextDelegates?: boolean;
  readonly contextOptions?: { readonly no_sets?: boolean; readonly group_by_agg_fallback?: boolean };
  readonly options?: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly vars?: Readonly<Record<string, unknown>>;
  /** Present on records over two states. */
  readonly mode?: 'union' | 'plain';
  readonly new?: unknown;
  readonly old?: unknown;
}

export type RecordOutcome =
  | { readonly id: string; readonly result: Encoded }
  | { readonly id: string; readonly error: { readonly class: string; readonly message: string } };

const optionNames = {
  limitIterators: 'yaql.limitIterators',
  memoryQuota: 'yaql.memoryQuota',
  convertInputData: 'yaql.convertInputData',
  convertOutputData: 'yaql.convertOutputData',
  convertTuplesToLists: 'yaql.convertTuplesToLists',
  convertSetsToLists: 'yaql.convertSetsToLists',
  iterableDicts: 'yaql.iterableDicts',
} as const;

function engineOptions(options: Readonly<Record<string, unknown>> = {}): EngineOptions {
  const out: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(optionNames)) if (options[key] !== undefined) out[name] = options[key];
  return out as EngineOptions;
}

/** Evaluates records one after another; engines for the same options are shared. */
export class RecordEvaluator {
  readonly #engines = new Map<string, Engine>();
  readonly #sources: Pick<EngineOptions, 'clock' | 'random' | 'localOffset'>;
  readonly #helpers: readonly FunctionDefinition[];

  /** Clock, random source and zone of the records that ask for them; helper functions for all. */
  constructor(
    sources: Pick<EngineOptions, 'clock' | 'random' | 'localOffset'> = {},
    helpers: readonly FunctionDefinition[] = [],
  ) {
    this.#sources = sources;
    this.#helpers = helpers;
  }

  /** Never throws for anything in the record. */
  evaluate(record: EvaluationRecord): RecordOutcome {
    try {
      const value = record.mode === undefined ? this.#evaluatePlain(record) : this.#evaluateOverStates(record);
      return { id: record.id, result: encodeValue(value) };
    } catch (error) {
      if (error instanceof YaqlError)
        return { id: record.id, error: { class: error.errorClass, message: error.message } };
      return {
        id: record.id,
        error: { class: 'HelperError', message: error instanceof Error ? error.message : String(error) },
      };
    }
  }

  #engine(key: string, make: () => Engine): Engine {
    let engine = this.#engines.get(key);
    if (engine === undefined) {
      engine = make();
      engine.registerDefinitions(this.#helpers);
      this.#engines.set(key, engine);
    }
    return engine;
  }

  #evaluatePlain(record: EvaluationRecord): Value {
    const { factory, context, delegates, contextDelegates, contextOptions, options } = record;
    const key = JSON.stringify([factory, context, delegates, contextDelegates, contextOptions, options]);
    const engine = this.#engine(key, () =>
      createEngine({
        ...engineOptions(options),
        ...this.#sources,
        legacy: factory === 'legacy',
        allowDelegates: delegates ?? false,
        context: createStandardContext({
          legacy: context === 'legacy',
          delegates: contextDelegates ?? false,
          noSets: contextOptions?.no_sets ?? false,
          groupByAggregatorFallback: contextOptions?.group_by_agg_fallback ?? true,
        }),
      }),
    );
    const variables = Object.entries(record.vars ?? {}).map(([name, value]) => [name, decodeValue(value)] as const);
    const data = Object.hasOwn(record, 'data') ? decodeValue(record.data) : undefined;
    return engine.parse(record.expr).evaluate(data, { variables });
  }

  #evaluateOverStates(record: EvaluationRecord): Value {
    const engine = this.#engine(`states${JSON.stringify(record.options)}`, () =>
      createTaskEngine({
        ...engineOptions(record.options),
        ...this.#sources,
        convertInputData: false,
        pythonLiterals: false,
      }),
    );
    const context = new Context(engine.context);
    const expression = engine.parse(record.expr);
    if (record.mode === 'plain') {
      const now = decodeValue(record.new);
      context.setVariable(newVariable, now);
      context.setVariable(oldVariable, decodeValue(record.old));
      return expression.evaluate(now, { context });
    }
    const now = stateOf(record.new);
    context.setVariable('node', now.node);
    context.setVariable('common', now.common);
    context.setVariable(newVariable, now.union);
    context.setVariable(
      oldVariable,
      record.old === null || record.old === undefined ? new Dict(false) : stateOf(record.old).union,
    );
    return expression.evaluate(now.union, { context });
  }
}

function stateOf(encoded: unknown): ReturnType<typeof nodeState> {
  const { common, node } = encoded as { common: unknown; node: unknown };
  return nodeState(decodeValue(common) as Dict, decodeValue(node) as Dict);
}
