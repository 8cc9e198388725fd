import { isMapping, kindOf } from '../../core/data/plain-value.ts';
import type { SkipReason } from '../plan.ts';
import { GraphProblemError, type Problems } from '../problem.ts';

import type { MergedTask } from '../tasks/merge-layers.ts';
import type { NodeScope } from './evaluator.ts';
import { compileTemplate, expressionsIn, instantiate, type Template } from './template.ts';
import { truthy } from './truth.ts';

export const DEPENDENCY_FIELDS = ['requires', 'required_for', 'cross_depends', 'cross_depended_by'] as const;

/** A task's fields prepared for all its nodes. */
export interface FieldTemplates {
  readonly id: Template;
  readonly condition: Template | undefined;
  readonly parameters: Template | undefined;
  readonly failOnError: Template | undefined;
  readonly dependencies: readonly (Template | undefined)[];
  /** Fields that nothing reads. Their expressions must still evaluate. */
  readonly others: readonly Template[];
  /** The `cwd` of parameters without one. */
  readonly folder: string;
  /** Parameters that are the same everywhere. */
  readonly constantParameters: Readonly<Record<string, unknown>> | undefined;
}

const SEPARATE: ReadonlySet<string> = new Set([
  ...DEPENDENCY_FIELDS,
  'id',
  'type',
  'version',
  'condition',
  'parameters',
  'fail_on_error',
  'tags',
  'roles',
  'groups',
]);

/** Undefined if an expression is invalid; `problems` has which. */
export function compileTask(
  { task, at, folder = '/' }: Pick<MergedTask, 'task' | 'at' | 'folder'>,
  problems: Problems,
): FieldTemplates | undefined {
  let ok = true;
  const compile = (field: string): Template | undefined => {
    if (!Object.hasOwn(task, field)) return undefined;
    const template = problems.attempt(at, () => compileTemplate(task[field], [field]));
    if (template === undefined) ok = false;
    return template;
  };
  const parameters = compile('parameters');
  const compiled = {
    folder,
    id: compileTemplate(task.id, ['id']),
    condition: compile('condition'),
    parameters,
    failOnError: compile('fail_on_error'),
    dependencies: DEPENDENCY_FIELDS.map(compile),
    others: Object.keys(task)
      .filter((field) => !SEPARATE.has(field))
      .flatMap((field) => compile(field) ?? [])
      .filter((template) => !expressionsIn(template).next().done),
    constantParameters:
      parameters === undefined
        ? withDirectory({}, folder)
        : parameters.kind === 'constant' && isMapping(parameters.value)
          ? withDirectory(parameters.value, folder)
          : undefined,
  };
  return ok ? compiled : undefined;
}

/**
 * Why a task does not run on a node; undefined when it does. The condition is evaluated before all other fields of
 * the task; the selection of the run comes first.
 */
export function skipReason(
  template: FieldTemplates,
  type: string,
  isLeftOut: () => boolean,
  scope: NodeScope,
): SkipReason | undefined {
  if (type === 'skipped' || type === 'stage') return 'type';
  if (isLeftOut()) return 'not_selected';
  return template.condition === undefined || holds(template.condition, scope) ? undefined : 'condition';
}

function holds(condition: Template, scope: NodeScope): boolean {
  const value =
    condition.kind === 'yaql'
      ? scope.evaluateCondition(condition.expression, condition.path)
      : instantiate(condition, scope);
  if (typeof value !== 'string') return truthy(value);
  try {
    return truthy(scope.evaluateLegacy(value));
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    throw new GraphProblemError(error.code, error.message, error.hint, ['condition']);
  }
}

/** The parameters of a task that runs. */
export function parametersOf(template: FieldTemplates, scope: NodeScope): Readonly<Record<string, unknown>> {
  if (template.constantParameters !== undefined) return template.constantParameters;
  const value = instantiate(template.parameters!, scope);
  if (isMapping(value)) return withDirectory(value, template.folder);
  throw new GraphProblemError(
    'graph.bad-parameters',
    `parameters must be a mapping, not ${kindOf(value)}`,
    'Write {name: value}.',
    ['parameters'],
  );
}

const withDirectory = (
  parameters: Readonly<Record<string, unknown>>,
  cwd: string,
): Readonly<Record<string, unknown>> => (Object.hasOwn(parameters, 'cwd') ? parameters : { ...parameters, cwd });

/** Evaluates the fields that decide nothing in this run, to find their errors. */
export function checkOthers({ others }: FieldTemplates, scope: NodeScope): void {
  for (const other of others) instantiate(other, scope);
}
