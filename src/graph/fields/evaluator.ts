import {
  Context,
  createTaskEngine,
  Dict,
  type Engine,
  type EvaluationOptions,
  type NodeState,
  newVariable,
  oldVariable,
  optionsFor,
  Runtime,
  type StepBudget,
  type Value,
  YaqlError,
} from '@sitewright/yaql';
import { isMapping, type ValuePath } from '../../core/data/plain-value.ts';
import { GraphProblemError, MissingFactsError } from '../problem.ts';
import type { Fields } from '../tasks/task.ts';
import { type ConditionModels, type LegacyCondition, parseLegacyCondition } from './legacy-condition.ts';
import { functionWithoutCall, missingPaths } from './missing-facts.ts';
import { conditionValue, toPlain } from './plain-data.ts';
import { type FormatText, type FormatValues, orNone } from './python-format.ts';
import { type ReadSet, readSetOf } from './read-set.ts';
import { type SharedPart, type SplitExpression, splitExpression } from './shared-parts.ts';
import { type ClusterState, type Found, lookUp, type OldStates, oldStateName, ownPart, ValueNumbers } from './state.ts';
import { factsOf, StateData } from './state-data.ts';
import type { TemplateScope } from './template.ts';

interface EvaluatorInput {
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
  /** The node's own data, over its facts, as expressions read it by name. */
  readonly readable: Fields;
  readonly state: NodeState;
}

const noState = new Dict(false);

/** Steps of all expressions of a plan together: four times those of the recorded release with an old state. */
const PLAN_STEPS = 2_000_000;
const PLAN_STEPS_PER_NODE = 40_000;
/** A step of a regular expression is that much cheaper. */
const REGEX_STEPS_PER_STEP = 16;

/** Limit of cached results; the cache is then emptied. */
const MAX_RESULTS = 200_000;

/**
 * Evaluates the fields of tasks on nodes. Results are cached by the data an expression can read: if two
 * nodes agree on that, in the new state and in the task's old one, it is evaluated once.
 */
export class FieldEvaluator {
  readonly engine: Engine;
  readonly #input: EvaluatorInput;
  readonly #data: StateData;
  readonly #sides = new Map<string, Side>();
  readonly #oldSides = new Map<string, Side | null>();
  readonly #oldData = new Map<string, StateData>();
  readonly #numbers = new ValueNumbers();
  readonly #expressions = new Map<string, number>();
  readonly #readSets = new Map<string, ReadSet>();
  readonly #splits = new Map<string, SplitExpression | null>();
  readonly #results = new Map<string, unknown>();
  readonly #legacy = new Map<string, LegacyCondition>();
  readonly #formats = new Map<string, FormatValues>();
  /** Steps left for all expressions of the plan together. */
  readonly budget: StepBudget;

  constructor(input: EvaluatorInput) {
    this.#input = input;
    this.engine = input.engine ?? createTaskEngine({ cacheSize: 20_000 });
    this.#data = new StateData(input.state);
    this.budget = { steps: PLAN_STEPS + PLAN_STEPS_PER_NODE * Object.keys(input.state.nodes).length };
  }

  /** The fields of one task on one node. Throws GraphProblemError when the state does not know the node. */
  scope(task: string, node: string): NodeScope {
    return new NodeScope(this, task, node);
  }

  /** The same as if the task had never succeeded. */
  scopeOfFirst(task: string, node: string): NodeScope {
    return new NodeScope(this, task, node, true);
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
      side = sideOf('', this.#input.state, this.#data, node, own);
      this.#sides.set(key, side);
    }
    return side;
  }

  /**
   * Null if the task never succeeded there. A node without its own data counts as unknown; outside any node, the state is the one
   * with which the task last succeeded anywhere.
   */
  oldSide(task: string, node: string | null): Side | null {
    const { old } = this.#input;
    const name = old === undefined ? undefined : oldStateName(old, task, node);
    if (old === undefined || name === undefined) return null;
    const key = JSON.stringify([name, node]);
    let side = this.#oldSides.get(key);
    if (side === undefined) {
      const state = old.states[name]!;
      const own = node === null ? {} : ownPart(state, node);
      if (own === undefined || (node !== null && Object.keys(own).length === 0)) side = null;
      else {
        let data = this.#oldData.get(name);
        if (data === undefined) {
          data = new StateData(state);
          this.#oldData.set(name, data);
        }
        side = sideOf(name, state, data, node, own);
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
    const own =
      reads === null
        ? [...new Set([now, ...(old === null ? [] : [old])].flatMap(({ own }) => Object.keys(own)))].sort()
        : reads.filter((key) => Object.hasOwn(now.readable, key) || (old !== null && Object.hasOwn(old.readable, key)));
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
    const before = old === null ? '-' : `${old.of}:${numbers(old.readable)}`;
    return `${this.#numberOf(expression)};${numbers(now.readable)};${before}`;
  }

  /** Short: it is part of hundreds of thousands of keys. */
  #numberOf(expression: string): number {
    let number = this.#expressions.get(expression);
    if (number === undefined) {
      number = this.#expressions.size;
      this.#expressions.set(expression, number);
    }
    return number;
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

  get commonFacts(): Fields {
    return this.#input.state.facts?.common ?? {};
  }
}

function sideOf(of: string, state: ClusterState, data: StateData, node: string | null, own: Fields): Side {
  const facts = node === null ? undefined : factsOf(state, node);
  return { of, own, readable: facts === undefined ? own : { ...facts, ...own }, state: data.of(node) };
}

/** The fields of one task on one node. */
export class NodeScope implements TemplateScope {
  readonly #evaluator: FieldEvaluator;
  readonly #now: Side;
  readonly #before: Side | null;
  #context: Context | undefined;
  #options: EvaluationOptions | undefined;

  constructor(evaluator: FieldEvaluator, task: string, node: string | null, isFirst = false) {
    this.#evaluator = evaluator;
    this.#now = evaluator.newSide(node);
    this.#before = isFirst ? null : evaluator.oldSide(task, node);
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

  /** What `make` gets from the expression, made once for all nodes that agree on what it reads. `use` tells makers apart. */
  once<T>(use: string, expression: string, make: () => T): T {
    const reads = this.#evaluator.resultKey(expression, this.#now, this.#before);
    if (reads === null) return make();
    const known = this.#evaluator.cached(use + reads);
    if (known !== undefined) return known.value as T;
    const value = make();
    this.#evaluator.cache(use + reads, value);
    return value;
  }

  #work(use: string, expression: string, path: ValuePath, convert: (value: Value) => unknown): unknown {
    try {
      return this.once(use, expression, () => convert(this.#raw(expression)));
    } catch (error) {
      throw atPath(this.#named(error, expression), path);
    }
  }

  /** The error, or the missing facts if it only reports an absent key. */
  #named(error: unknown, expression: string): unknown {
    if (!(error instanceof YaqlError) || !error.is('KeyError')) return error;
    const { union, node, common } = this.#now.state;
    const { tree } = this.#evaluator.engine.parse(expression);
    const paths = missingPaths(tree, { $: union, $node: node, $common: common });
    const method = functionWithoutCall(paths);
    if (method !== undefined)
      return new GraphProblemError(
        'graph.function-without-call',
        `${method} is a function: write ${method}()`,
        `A key of that name is read with .get(${method}).`,
      );
    return paths.length === 0 ? error : new MissingFactsError(paths);
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
    this.#options ??= optionsFor(engine, this.#now.state, this.#before?.state ?? null);
    const { budget } = this.#evaluator;
    if (budget.steps <= 0)
      throw new GraphProblemError(
        'graph.too-much-work',
        'the expressions of this plan take too many steps together',
        'Simplify expressions that copy or compare large collections, or plan fewer tasks and nodes together.',
      );
    const runtime = new Runtime(this.#options, budget);
    const context = new Context(this.#context, runtime);
    for (const [name, value] of variables) context.setVariable(name, value);
    context.first = this.#now.state.union;
    const { steps, regexSteps } = runtime;
    try {
      return engine.parse(expression).evaluateIn(context);
    } finally {
      const used = steps - runtime.steps + (regexSteps - runtime.regexSteps) / REGEX_STEPS_PER_STEP;
      budget.steps = Math.max(0, budget.steps - used);
    }
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
    const { cluster: facts } = this.#evaluator.commonFacts;
    const cluster = lookUp(this.#evaluator.commonData, own, ['cluster']);
    const ofCluster = {
      ...(isMapping(facts) ? facts : {}),
      ...('value' in cluster && isMapping(cluster.value) ? cluster.value : {}),
    };
    const models: ConditionModels = { settings, cluster: (path) => lookUp(ofCluster, {}, path) };
    return this.#evaluator.condition(text).evaluate(models);
  }
}

function atPath(error: unknown, path: ValuePath): unknown {
  if (error instanceof MissingFactsError) return new MissingFactsError(error.paths, [...path, ...error.below]);
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
