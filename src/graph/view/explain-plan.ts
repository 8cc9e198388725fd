import type {
  NodeExplanation,
  PlanExplanation,
  RunExplanation,
  SkipExplanation,
} from '../../core/contracts/fuel/plan-explanation.ts';
import { isSecretKey } from '../../core/text/secrets.ts';
import { pathsRead } from '../fields/condition-reads.ts';
import { FieldEvaluator, type NodeScope } from '../fields/evaluator.ts';
import { isExpression } from '../fields/template.ts';
import type { Plan, TaskInstance } from '../plan.ts';
import type { PlanInput } from '../plan-graph.ts';
import { GraphProblemError } from '../problem.ts';

/** The parts of an explanation: of a large plan, nobody keeps those of all nodes. */
interface Explaining extends Omit<PlanExplanation, 'nodes'> {
  /** By number of a node; undefined if it has no tasks. */
  readonly ofNode: (node: number) => NodeExplanation | undefined;
}

/** Explains a plan made from `input`. Evaluates the parts of conditions again to show their values. */
export function explainPlan(plan: Plan, input: PlanInput): PlanExplanation {
  const { totals, ofNode, ...others } = explaining(plan, input);
  return { totals, nodes: plan.nodes.flatMap((_, at) => ofNode(at) ?? []), ...others };
}

/** The same, node by node. */
export function explaining(plan: Plan, input: PlanInput): Explaining {
  const values = new ConditionValues(input);
  const running = plan.instances.filter(({ skip }) => skip === undefined);
  return {
    totals: {
      nodes: plan.byNode.filter((tasks) => tasks.length > 0).length,
      tasks: plan.instances.length,
      running: running.length,
      first_time: running.filter(({ ranBefore, hasChanged }) => !ranBefore && !hasChanged).length,
    },
    ofNode: (at) => {
      const node = plan.nodes[at]!;
      const instances = plan.byNode[at]!.map((one) => plan.instances[one]!);
      if (instances.length === 0) return undefined;
      const runs = instances.filter(({ skip }) => skip === undefined).map((one) => runOf(plan, one, node, values));
      const skipped = instances.filter(({ skip }) => skip !== undefined).map((one) => skipOf(plan, one, node, values));
      return { node, runs, skipped };
    },
    not_placed: plan.tasks.flatMap(({ merged, unplaced }) =>
      unplaced === undefined ? [] : [{ task: merged.task.id, reason: unplaced }],
    ),
    skipped_primaries: plan.tasks.flatMap(({ merged, skippedPrimaries }) =>
      skippedPrimaries.map((one) => ({ task: merged.task.id, ...one })),
    ),
    dropped_dependencies: plan.tasks.flatMap(({ merged, dropped }) =>
      dropped.map((one) => ({ task: merged.task.id, ...one })),
    ),
    fault_tolerance: plan.faultTolerance,
    any_choices: plan.anyChoices,
  };
}

function runOf(
  plan: Plan,
  { task, id, type, ranBefore, hasChanged }: TaskInstance,
  node: string,
  values: ConditionValues,
): RunExplanation {
  const { merged, placedBy } = plan.tasks[task]!;
  const changed = ranBefore ? values.changes(merged.task.condition, merged.task.id, node) : [];
  const isNew = hasChanged ? { new_version: true } : {};
  return { task: id, type, placed_by: placedBy, first_time: !ranBefore && !hasChanged, changed, ...isNew };
}

function skipOf(
  plan: Plan,
  { task, id, skip, hasChanged }: TaskInstance,
  node: string,
  values: ConditionValues,
): SkipExplanation {
  const { merged, type } = plan.tasks[task]!;
  const { condition } = merged.task;
  if (skip !== 'condition') {
    const why =
      skip === 'not_selected'
        ? 'not among the selected tasks'
        : type === 'stage'
          ? 'a stage: it only orders'
          : 'disabled: its type is skipped';
    return { task: id, reason: skip!, why, values: [] };
  }
  const text = isExpression(condition)
    ? String(condition.yaql_exp)
    : typeof condition === 'string'
      ? condition
      : JSON.stringify(condition);
  return {
    task: id,
    reason: skip,
    why: `condition is false: ${text.trim().replace(/\s+/g, ' ')}`,
    values: values.read(condition, merged.task.id, node),
    ...(hasChanged ? { missed: true } : {}),
  };
}

/** Shows the values that conditions read. Omits a part that cannot be evaluated alone. */
class ConditionValues {
  readonly #evaluator: FieldEvaluator;

  constructor(input: PlanInput) {
    this.#evaluator = new FieldEvaluator(input);
  }

  read(condition: unknown, task: string, node: string): string[] {
    const scope = this.#evaluator.scope(task, node);
    if (typeof condition === 'string') {
      return this.#evaluator
        .condition(condition)
        .paths.flatMap((path) =>
          path.split(/[:.]/).some(isSecretKey) ? [notShown(path)] : shown(path, () => scope.evaluateLegacy(path)),
        );
    }
    return this.#paths(condition).flatMap(({ text, secret }) => {
      const now = secret
        ? [notShown(text)]
        : scope.once('shown', text, () => shown(text, () => scope.evaluate(text, [])));
      return now.length === 0 || !scope.ranBefore
        ? now
        : [`${now[0]}${this.#isChanged(scope, text) ? ' (changed)' : ' (as before)'}`];
    });
  }

  changes(condition: unknown, task: string, node: string): string[] {
    const scope = this.#evaluator.scope(task, node);
    return this.#paths(condition).flatMap(({ text, secret }) => {
      if (!this.#isChanged(scope, text)) return [];
      if (secret) return [`${text}: (not shown)`];
      return scope.once('change', text, () => {
        const before = value(() => scope.evaluate(`old(${text})`, [])) ?? 'nothing';
        const now = value(() => scope.evaluate(text, []));
        return [`${text}: ${before} -> ${now ?? '?'}`];
      });
    });
  }

  #paths(condition: unknown): ReturnType<typeof pathsRead> {
    if (!isExpression(condition) || typeof condition.yaql_exp !== 'string') return [];
    return pathsRead(condition.yaql_exp, this.#evaluator.engine.parse(condition.yaql_exp).tree);
  }

  #isChanged(scope: NodeScope, path: string): boolean {
    try {
      return scope.evaluateCondition(`changed(${path})`, []) === true;
    } catch (error) {
      if (!(error instanceof GraphProblemError)) throw error;
      return false;
    }
  }
}

function value(evaluate: () => unknown): string | undefined {
  try {
    return shownValue(evaluate());
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    return undefined;
  }
}

const notShown = (path: string): string => `${path} = (not shown)`;

function shown(path: string, evaluate: () => unknown): string[] {
  const text = value(evaluate);
  return text === undefined ? [] : [`${path} = ${text}`];
}

const MAX_SHOWN = 60;

/** A short form of a value: scalars unchanged, others by size, so that nothing long or secret is printed. */
function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).length;
    return keys === 0 ? '{}' : `a mapping of ${keys}`;
  }
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
