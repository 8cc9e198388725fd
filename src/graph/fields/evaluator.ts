import { isMapping, type ValuePath } from '../../core/plain-value.js';
import {
  Context,
  createTaskEngine,
  Dict,
  type Engine,
  type NodeState,
  nodeState,
  type PreparedData,
  prepareData,
  type Value,
  YaqlError,
} from '../../yaql/index.js';
import { newVariable, oldVariable } from '../../yaql/nailgun/functions.js';
import { Runtime } from '../../yaql/runtime/limits.js';
import { GraphProblemError } from '../problem.js';
import type { Fields } from '../tasks/task.js';
import { type ConditionModels, type LegacyCondition, parseLegacyCondition } from './legacy-condition.js';
import { conditionValue, toPlain } from './plain-data.js';
import { type FormatText, type FormatValues, orNone } from './python-format.js';
import { type ReadSet, readSetOf } from './read-set.js';
import { type SharedPart, type SplitExpression, splitExpression } from './shared-parts.js';
import { type ClusterState, type Found, lookUp, type OldStates, oldStateName, ownPart, ValueNumbers } from './state.js';
import type { TemplateScope } from './template.js';

export interface EvaluatorInput {
  readonly state: ClusterState;
  readonly old?: OldStates;
  /** Values of `{MASTER_IP}` and other names that do not come from the state. */
  readonly formatter?: FormatValues;
  /** The engine to use, with any helper functions registered. Default: a new one. */
  readonly engine?: Engine;
}

/** The data, new or old, that a node's expressions see. */
interface Side {
  /** Name of the old state; empty for the new one. */
  readonly of: string;
  readonly own: Fields;
  readonly state: NodeState;
}

const noState = new Dict(false);

/** Limit of cached results; the cache is then emptied. */
const MAX_RESULTS = 200_000;

/**
 * Evaluates the fields of tasks on nodes. Results are cached by what an expression can read: if two nodes
 * agree on that, in the new state and in the task's old one, it is evaluated once.
 */
export class FieldEvaluator {
  readonly engine: Engine;
  readonly #input: EvaluatorInput;
  readonly #common: PreparedData;
  readonly #sides = new Map<string, Side>();
  readonly #oldSides = new Map<string, Side | null>();
  readonly #oldCommon = new Map<string, PreparedData>();
  readonly #numbers = new ValueNumbers();
  readonly #readSets = new Map<string, ReadSet>();
  readonly #splits = new Map<string, SplitExpression | null>();
  readonly #results = new Map<string, unknown>();
  readonly #legacy = new Map<string, LegacyCondition>();
  readonly #formats = new Map<string, FormatValues>();

  constructor(input: EvaluatorInput) {
    this.#input = input;
    this.engine = input.engine ?? createTaskEngine({ cacheSize: 20_000 });
    this.#common = prepareData(input.state.common);
  }

  /** The fields of one task on one node. Throws GraphProblemError when the state does not know the node. */
  scope(task: string, node: string): NodeScope {
    return new NodeScope(this, task, node);
  }

  /** The scope for fields that place tasks, where `$` is only the common data. */
  clusterScope(task: string): NodeScope {
    return new NodeScope(this, task, null);
  }

  newSide(node: string | null): Side {
    const key = node ?? '';
    let side = this.#sides.get(key);
    if (side === undefined) {
      const own = node === null ? {} : ownPart(this.#input.state, node);
      if (!isMapping(own)) {
        throw new GraphProblemError(
          'graph.no-node-state',
          `deployment_info.nodes has no data for ${node === 'null' ? 'the sync node (key "null")' : `node '${node}'`}`,
          `Add cluster.deployment_info.nodes[${JSON.stringify(node)}]; use {} for no data.`,
        );
      }
      side = {
        of: '',
        own,
        state: nodeState(this.#common, prepareData(own)),
      };
      this.#sides.set(key, side);
    }
    return side;
  }

  /** Null if the task never succeeded there. A node without its own data counts as unknown. */
  oldSide(task: string, node: string | null): Side | null {
    const { old } = this.#input;
    const name = old === undefined || node === null ? undefined : oldStateName(old, task, node);
    if (old === undefined || node === null || name === undefined) return null;
    const key = JSON.stringify([name, node]);
    let side = this.#oldSides.get(key);
    if (side === undefined) {
      const state = old.states[name]!;
      const own = ownPart(state, node);
      if (own === undefined || Object.keys(own).length === 0) side = null;
      else {
        let common = this.#oldCommon.get(name);
        if (common === undefined) {
          common = prepareData(state.common);
          this.#oldCommon.set(name, common);
        }
        side = { of: name, own, state: nodeState(common, prepareData(own)) };
      }
      this.#oldSides.set(key, side);
    }
    return side;
  }

  #readSet(expression: string): ReadSet {
    let reads = this.#readSets.get(expression);
    if (reads === undefined) {
      reads = readSetOf(this.engine.parse(expression).tree);
      this.#readSets.set(expression, reads);
    }
    return reads;
  }

  /** The expression without the parts that read none of these nodes' own data; null when that saves nothing. */
  split(expression: string, now: Side, old: Side | null): SplitExpression | null {
    const reads = this.#readSet(expression);
    const all =
      old === null || old.own === now.own
        ? Object.keys(now.own)
        : [...new Set([...Object.keys(now.own), ...Object.keys(old.own)])];
    const own = reads === null ? all.sort() : reads.filter((key) => all.includes(key));
    if (own.length === 0) return null;
    const key = `${own.join(',')};${expression}`;
    let split = this.#splits.get(key);
    if (split === undefined) {
      split = splitExpression(expression, this.engine.parse(expression).tree, own);
      this.#splits.set(key, split);
    }
    return split;
  }

  /** Cache key of the result; null when it may differ on any two nodes. */
  resultKey(expression: string, now: Side, old: Side | null): string | null {
    const reads = this.#readSet(expression);
    if (reads === null) return null;
    const numbers = (part: Fields): string => reads.map((key) => this.#numbers.of(part, key)).join(',');
    const before = old === null ? '-' : `${old.of}:${numbers(old.own)}`;
    return `${numbers(now.own)};${before};${expression}`;
  }

  cached(key: string): { readonly value: unknown } | undefined {
    return this.#results.has(key) ? { value: this.#results.get(key) } : undefined;
  }

  cache(key: string, value: unknown): void {
    if (this.#results.size >= MAX_RESULTS) this.#results.clear();
    this.#results.set(key, value);
  }

  condition(text: string): LegacyCondition {
    let condition = this.#legacy.get(text);
    if (condition === undefined) {
      condition = parseLegacyCondition(text);
      this.#legacy.set(text, condition);
    }
    return condition;
  }

  formatValues(side: Side): FormatValues {
    const key = ['cluster', 'openstack_version', 'public_ssl']
      .map((name) => this.#numbers.of(side.own, name))
      .join(',');
    let values = this.#formats.get(key);
    if (values === undefined) {
      const at = (...path: string[]): unknown => {
        const found = lookUp(this.commonData, side.own, path);
        return orNone('value' in found ? found.value : null);
      };
      values = {
        CLUSTER_ID: at('cluster', 'id'),
        OPENSTACK_VERSION: at('openstack_version'),
        CN_HOSTNAME: at('public_ssl', 'hostname'),
        ...this.#input.formatter,
        SETTINGS: {
          ...this.#input.formatter,
          ...(isMapping(this.#input.formatter?.SETTINGS) ? this.#input.formatter.SETTINGS : {}),
        },
      };
      this.#formats.set(key, values);
    }
    return values;
  }

  get commonData(): Fields {
    return this.#input.state.common;
  }
}

/** The fields of one task on one node. */
export class NodeScope implements TemplateScope {
  readonly #evaluator: FieldEvaluator;
  readonly #now: Side;
  readonly #before: Side | null;
  #context: Context | undefined;

  constructor(evaluator: FieldEvaluator, task: string, node: string | null) {
    this.#evaluator = evaluator;
    this.#now = evaluator.newSide(node);
    this.#before = evaluator.oldSide(task, node);
  }

  /** Whether the task succeeded on this node before. */
  get ranBefore(): boolean {
    return this.#before !== null;
  }

  fill(text: FormatText): string {
    return text.fill(this.#evaluator.formatValues(this.#now));
  }

  evaluate(expression: string, path: ValuePath): unknown {
    return this.#work('v', expression, path, toPlain);
  }

  /** Text stays text (an older condition); any other value becomes its truth, even if JSON cannot express it. */
  evaluateCondition(expression: string, path: ValuePath): string | boolean {
    return this.#work('c', expression, path, conditionValue) as string | boolean;
  }

  #work(use: string, expression: string, path: ValuePath, convert: (value: Value) => unknown): unknown {
    try {
      const reads = this.#evaluator.resultKey(expression, this.#now, this.#before);
      const key = reads === null ? null : use + reads;
      const known = key === null ? undefined : this.#evaluator.cached(key);
      if (known !== undefined) return known.value;
      const value = convert(this.#raw(expression));
      if (key !== null) this.#evaluator.cache(key, value);
      return value;
    } catch (error) {
      throw atPath(error, path);
    }
  }

  #raw(expression: string): Value {
    const split = this.#evaluator.split(expression, this.#now, this.#before);
    const variables: [string, Value][] = [];
    for (const part of split?.parts ?? []) {
      const shared = this.#sharedPart(part);
      // The part fails or has no elements: evaluate the whole expression, which reports it.
      if (shared === undefined) return this.#evaluateIn(expression, []);
      variables.push([part.variable, shared]);
    }
    if (split === null) return this.#evaluateIn(expression, []);
    try {
      return this.#evaluateIn(split.text, variables);
    } catch (error) {
      if (!(error instanceof YaqlError)) throw error;
      // Fails again, with its place in the user's text.
      return this.#evaluateIn(expression, []);
    }
  }

  #sharedPart({ expression, withoutOwn }: SharedPart): Value | undefined {
    const state = this.#before === null ? '-' : this.#before.of;
    const reads = withoutOwn
      ? `${state};${expression}`
      : this.#evaluator.resultKey(expression, this.#now, this.#before);
    const key = `p${reads}`;
    const known = this.#evaluator.cached(key);
    if (known !== undefined) return known.value as Value | undefined;
    let value: Value | undefined;
    try {
      const whole = this.#evaluateIn(expression, []);
      if (typeof whole === 'boolean' || Array.isArray(whole)) value = whole;
    } catch (error) {
      if (!(error instanceof YaqlError)) throw error;
    }
    this.#evaluator.cache(key, value);
    return value;
  }

  #evaluateIn(expression: string, variables: readonly (readonly [string, Value])[]): Value {
    const { engine } = this.#evaluator;
    this.#context ??= this.#taskContext();
    const context = new Context(this.#context, new Runtime(engine.options));
    for (const [name, value] of variables) context.setVariable(name, value);
    context.first = this.#now.state.union;
    return engine.parse(expression).evaluateIn(context);
  }

  /** Like that of `TaskScope` of the engine, plus variables. */
  #taskContext(): Context {
    const context = new Context(this.#evaluator.engine.context);
    context.setVariable('node', this.#now.state.node);
    context.setVariable('common', this.#now.state.common);
    context.setVariable(newVariable, this.#now.state.union);
    context.setVariable(oldVariable, this.#before?.state.union ?? noState);
    return context;
  }

  /** The value of a condition of the older language. */
  evaluateLegacy(text: string): unknown {
    const { own } = this.#now;
    const settings = (path: readonly string[]): Found => lookUp(this.#evaluator.commonData, own, path);
    const cluster = lookUp(this.#evaluator.commonData, own, ['cluster']);
    const ofCluster = 'value' in cluster && isMapping(cluster.value) ? cluster.value : {};
    const models: ConditionModels = { settings, cluster: (path) => lookUp(ofCluster, {}, path) };
    return this.#evaluator.condition(text).evaluate(models);
  }
}

function atPath(error: unknown, path: ValuePath): unknown {
  if (error instanceof GraphProblemError)
    return new GraphProblemError(error.code, error.message, error.hint, [...path, ...error.below]);
  if (!(error instanceof YaqlError)) return error;
  const { place } = error;
  const where = place === null ? '' : ` at line ${place.line}, column ${place.column} of the expression`;
  const code = error.is('YaqlParsingException') ? 'graph.bad-yaql' : 'graph.yaql-failed';
  const hint = error.is('KeyError') ? 'Use .get(key, default) where the key may be absent.' : error.caret();
  return new GraphProblemError(
    code,
    `${error.errorClass}: ${error.message}${where}`,
    hint === '' ? undefined : hint,
    path,
  );
}
