import { createEngine, type Engine, type EngineOptions } from '../engine.ts';
import { Context } from '../runtime/context.ts';
import { type EvaluationOptions, Runtime } from '../runtime/limits.ts';
import { BackedDict, Dict } from '../values/collections.ts';
import { fromHost, toHost } from '../values/conversion.ts';
import type { Value } from '../values/kind.ts';
import { nailgunFunctions, newVariable, oldVariable } from './functions.ts';

/** Limits of computable task fields, as the reference implementation has them, and one on time, which it has not. */
export const taskEngineOptions: EngineOptions = {
  limitIterators: 10_000,
  memoryQuota: 100 * 1024 * 1024,
  convertTuplesToLists: true,
  convertSetsToLists: true,
  convertInputData: false,
  // Half a minute's work of the reference implementation, and well under a second here; more for data that is large: see STEPS_PER_VALUE.
  maxSteps: 300_000,
  pythonLiterals: true,
};

/**
 * Steps that each value of the data adds: an honest expression reads all of it a few times, so its budget grows with the cluster.
 * Quadratic work is still refused.
 */
const STEPS_PER_VALUE = 4;

/** Options to evaluate one expression of a task on this data, which it may read to its last element. */
export function optionsFor({ options }: Engine, now: NodeState, old: NodeState | null): EvaluationOptions {
  const size = now.size + (old?.size ?? 0);
  const { limitIterators: limit, maxSteps } = options;
  return {
    ...options,
    maxSteps: maxSteps + STEPS_PER_VALUE * size,
    limitIterators: limit < 0 ? limit : Math.max(limit, size),
  };
}

/** An engine for computable task fields: the standard library and `changed`, `old`, `toYaml` … */
export function createTaskEngine(options: EngineOptions = {}): Engine {
  const engine = createEngine({ ...taskEngineOptions, ...options });
  engine.registerDefinitions(nailgunFunctions);
  return engine;
}

/** Data converted once, to be part of many states. */
export type PreparedData = Dict;

/**
 * The data of a cluster or of a node, of which only what expressions look into is converted; keep the result as long as the data
 * does not change.
 */
export function prepareData(data: Readonly<Record<string, unknown>>): PreparedData {
  const value = fromHost(data, 'lazy');
  return value instanceof Dict ? value : new Dict(false);
}

/** The data of one side, new or old, for an expression of a task. */
export interface NodeState {
  /** `$`: the cluster's data with the node's on top; dicts are merged, everything else is replaced. */
  readonly union: Value;
  readonly node: Value;
  readonly common: Value;
  /** How many values the cluster's data has, nested ones included: all of its nodes have the same budgets. */
  readonly size: number;
}

/** The state of one node. Cheap: only dicts present on both sides are copied. The backing of one of them backs `$`. */
export function nodeState(common: PreparedData, node: PreparedData): NodeState {
  return { union: deepUnion(common, node), node, common, size: sizeOf(common) };
}

/** Counted once for each piece of prepared data. */
const sizes = new WeakMap<Dict, number>();

function sizeOf(data: PreparedData): number {
  const known = sizes.get(data);
  if (known !== undefined) return known;
  let size = 0;
  const left: Value[] = [data];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    size += 1;
    if (Array.isArray(value)) for (const item of value) left.push(item);
    else if (value instanceof Dict) for (const [, item] of value.entries()) left.push(item);
  }
  sizes.set(data, size);
  return size;
}

function deepUnion(base: Dict, over: Dict): Dict {
  const out = backedBy([over, base]) ?? new Dict(false);
  for (const [key, value] of base.entries()) out.set(key, value);
  for (const [key, value] of over.entries()) {
    const below = base.content(key);
    out.set(key, below instanceof Dict && value instanceof Dict ? deepUnion(below, value) : value);
  }
  return out;
}

/** An empty dict with the further values of these, the first wins; undefined when none of them has any. */
function backedBy(dicts: readonly Dict[]): Dict | undefined {
  const backed = dicts.filter((dict) => dict instanceof BackedDict);
  if (backed.length === 0) return undefined;
  return new BackedDict(
    [],
    (key) => {
      for (const dict of backed) {
        const found = dict.further(key);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    () => new Set(backed.flatMap((dict) => [...dict.furtherKeys()])),
  );
}

const noState = new Dict(false);

/**
 * The context of one task on one node. `old` is the state at the task's last successful run on that node, null when
 * there was none. Evaluate any number of the task's expressions in it; each has budgets of its own.
 */
export class TaskScope {
  readonly #engine: Engine;
  readonly #options: EvaluationOptions;
  readonly #now: Value;
  readonly #context: Context;

  constructor(engine: Engine, now: NodeState, old: NodeState | null) {
    this.#engine = engine;
    this.#options = optionsFor(engine, now, old);
    this.#now = now.union;
    this.#context = new Context(engine.context);
    this.#context.setVariable('node', now.node);
    this.#context.setVariable('common', now.common);
    this.#context.setVariable(newVariable, now.union);
    this.#context.setVariable(oldVariable, old === null ? noState : old.union);
  }

  /** The finalized value. Throws YaqlError with a place. */
  evaluate(expression: string): Value {
    const context = new Context(this.#context, new Runtime(this.#options));
    context.first = this.#now;
    return this.#engine.parse(expression).evaluateIn(context);
  }

  /** The value as plain JavaScript. */
  evaluateToHost(expression: string): unknown {
    return toHost(this.evaluate(expression));
  }
}
