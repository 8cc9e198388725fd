import { isMapping, kindOf, type ValuePath } from '../../core/data/plain-value.ts';
import { checkParameters, findTaskType, TASK_TYPE_NAMES } from '../../core/task-types/index.ts';
import { CONTROL, controlCharacterOf } from '../../core/text/control-characters.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { syntaxProblem } from '../../documents/expression-syntax.ts';
import { parseLegacyCondition } from '../fields/legacy-condition.ts';
import { compileTemplate, expressionsIn, isExpression } from '../fields/template.ts';
import type { Problems } from '../problem.ts';
import { versionNumbers } from './adapt-legacy.ts';
import { namePattern } from './name-pattern.ts';
import { strategyProblems } from './strategy.ts';
import { type Fields, isUnusableId, READ_FIELDS } from './task.ts';

/** Checks the shape of one task as written, including the syntax of its expressions. Reports all problems. */
export function checkTask(task: unknown, at: ValuePath, problems: Problems): task is Fields {
  if (!isMapping(task)) {
    problems.error(at, 'graph.bad-task', `a task must be a mapping, not ${kindOf(task)}`, 'Write {id: …, type: …}.');
    return false;
  }
  const before = problems.errors;
  const check = new FieldChecks(task, at, problems);
  check.id();
  check.type();
  check.version();
  check.keys();
  check.parameters();
  for (const field of ['requires', 'required_for'] as const) check.names(field);
  for (const field of ['cross-depends', 'cross_depends', 'cross-depended-by', 'cross_depended_by'] as const)
    check.relations(field);
  for (const field of ['tags', 'roles', 'role', 'groups'] as const) check.tags(field);
  check.failOnError();
  check.refreshOn();
  check.condition();
  check.expressions();
  return problems.errors === before;
}

/** Whether a task has an id that others can refer to, whatever else is wrong with it. */
export const isNamed = (task: unknown): task is Fields => isMapping(task) && isUsableId(task.id ?? task.task_name);

const isUsableId = (id: unknown): boolean =>
  typeof id === 'string' && id !== '' && !isUnusableId(id) && !CONTROL.test(id);

/** Expressions and texts with names in braces: their value is known only when they are evaluated. */
const isOpen = (value: unknown): boolean => isExpression(value) || (typeof value === 'string' && value.includes('{'));

const STRATEGY_KEYS = ['type', 'amount'];
const RELATION_KEYS = ['name', 'role', 'tags', 'policy'];

class FieldChecks {
  readonly #task: Fields;
  readonly #at: ValuePath;
  readonly #problems: Problems;

  constructor(task: Fields, at: ValuePath, problems: Problems) {
    this.#task = task;
    this.#at = at;
    this.#problems = problems;
  }

  #given(field: string): unknown {
    const value = Object.hasOwn(this.#task, field) ? this.#task[field] : undefined;
    return value === null || isExpression(value) ? undefined : value;
  }

  #bad(path: ValuePath, message: string, hint: string): void {
    this.#problems.error([...this.#at, ...path], 'graph.bad-task', message, hint);
  }

  id(): void {
    const id = this.#task.id ?? this.#task.task_name;
    if (isUsableId(id)) return;
    const control = typeof id === 'string' ? controlCharacterOf(id) : undefined;
    if (control !== undefined)
      this.#bad(['id'], `the id of the task has the control character ${control}`, 'Remove it.');
    else if (isExpression(id))
      this.#bad(['id'], 'the id of a task cannot be an expression', 'Write it out: others refer to it.');
    else
      this.#bad(
        ['id'],
        id === undefined
          ? 'the task has no id'
          : typeof id === 'string'
            ? `'${id}' cannot be the id of a task`
            : `the id must be text, not ${kindOf(id)}`,
        'Give it a name that is unique in the graph.',
      );
  }

  type(): void {
    const { type } = this.#task;
    if (isExpression(type) || findTaskType(type) !== undefined) return;
    const what = type === undefined ? 'the task has no type' : `unknown task type ${JSON.stringify(type)}`;
    const near = typeof type === 'string' ? didYouMean(type, TASK_TYPE_NAMES) : undefined;
    this.#bad(['type'], what, near ?? `Use one of ${TASK_TYPE_NAMES.join(', ')}.`);
  }

  version(): void {
    const version = this.#given('version');
    if (version === undefined || versionNumbers(version) !== undefined) return;
    this.#bad(['version'], `${JSON.stringify(version)} is not a version`, 'Write three numbers, e.g. "2.1.0".');
  }

  /** Custom fields are kept; likely misspellings of a missing field are reported. */
  keys(): void {
    const absent = [...READ_FIELDS].filter((field) => !Object.hasOwn(this.#task, field));
    for (const key of Object.keys(this.#task)) {
      const meant = READ_FIELDS.has(key) ? undefined : didYouMean(key, absent);
      if (meant !== undefined)
        this.#problems.warning([...this.#at, key], 'graph.unknown-key', `nothing reads the field '${key}'`, meant);
    }
  }

  parameters(): void {
    const parameters = this.#given('parameters');
    if (parameters !== undefined && !isMapping(parameters)) {
      this.#bad(['parameters'], `parameters must be a mapping, not ${kindOf(parameters)}`, 'Write {name: value}.');
      return;
    }
    if (!isExpression(this.#task.parameters)) this.#parametersOfType(parameters);
    if (parameters === undefined) return;
    const { strategy } = parameters;
    if (strategy === undefined || isExpression(strategy)) return;
    const at = ['parameters', 'strategy'];
    for (const { path, message, hint } of strategyProblems(strategy, isExpression))
      this.#bad([...at, ...path], message, hint);
    if (isMapping(strategy)) this.#unknownKeys(strategy, STRATEGY_KEYS, at, 'a strategy');
  }

  /** What nothing reads has no effect. */
  #unknownKeys(value: Fields, known: readonly string[], at: ValuePath, what: string): void {
    for (const key of Object.keys(value).filter((one) => !known.includes(one)))
      this.#problems.warning(
        [...this.#at, ...at, key],
        'graph.unknown-key',
        `nothing reads the key '${key}' of ${what}`,
        didYouMean(key, known) ?? `Known: ${known.join(', ')}.`,
      );
  }

  /**
   * A parameter that a node would reject is a warning, because an override or the release may still change it; a misspelt
   * required parameter is an error.
   */
  #parametersOfType(parameters: unknown): void {
    const found = checkParameters(this.#task.type, parameters, { isOpen });
    const missing = found.filter(({ kind }) => kind === 'missing').map(({ path }) => String(path.at(-1)));
    for (const { kind, path, message, hint } of found) {
      const isMisspelt = kind === 'unknown' && didYouMean(String(path.at(-1)), missing) !== undefined;
      this.#problems.add({
        severity: isMisspelt ? 'error' : 'warning',
        code: kind === 'unknown' ? 'graph.unknown-key' : 'graph.bad-parameters',
        message,
        hint,
        at: [...this.#at, 'parameters', ...path],
      });
    }
  }

  names(field: string): void {
    const value = this.#given(field);
    if (value === undefined) return;
    if (!Array.isArray(value)) {
      this.#bad([field], `${field} must be a list of task names, not ${kindOf(value)}`, 'Write ["task", "/regex/"].');
      return;
    }
    for (const [at, name] of value.entries()) this.#name(name, [field, at]);
  }

  #name(name: unknown, path: ValuePath): void {
    if (!isExpression(name)) this.#problems.attempt([...this.#at, ...path], () => namePattern(name));
  }

  relations(field: string): void {
    const value = this.#given(field);
    if (value === undefined) return;
    if (!Array.isArray(value)) {
      this.#bad([field], `${field} must be a list of relations, not ${kindOf(value)}`, 'Write [{name: …, role: …}].');
      return;
    }
    value.forEach((relation: unknown, at) => {
      const path = [field, at];
      if (relation === null || isExpression(relation)) return;
      if (!isMapping(relation)) {
        this.#bad(path, `a relation must be a mapping, not ${kindOf(relation)}`, 'Write {name: …, role: …}.');
        return;
      }
      if (Object.keys(relation).length === 0) return;
      if (!Object.hasOwn(relation, 'name'))
        this.#bad(path, 'the relation has no name', 'Add the name of a task, or "/regex/".');
      else this.#name(relation.name, [...path, 'name']);
      for (const who of ['tags', 'role']) this.#entries(relation[who], [...path, who]);
      this.#unknownKeys(relation, RELATION_KEYS, path, 'a relation');
      const { policy } = relation;
      if (policy !== undefined && policy !== 'all' && policy !== 'any' && !isExpression(policy))
        this.#bad([...path, 'policy'], `${JSON.stringify(policy)} is not a policy`, 'Use all or any.');
    });
  }

  tags(field: string): void {
    const value = this.#given(field);
    this.#entries(value, [field]);
    if (value === undefined || typeof value === 'string' || Array.isArray(value)) return;
    this.#bad(
      [field],
      `${field} must be a name or a list of names, not ${kindOf(value)}`,
      'Write ["name", "/regex/"].',
    );
  }

  #entries(value: unknown, path: ValuePath): void {
    if (typeof value === 'string') this.#name(value, path);
    else if (Array.isArray(value)) for (const [at, entry] of value.entries()) this.#name(entry, [...path, at]);
  }

  failOnError(): void {
    const value = this.#given('fail_on_error');
    if (value === undefined || typeof value === 'boolean' || isOpen(value)) return;
    this.#bad(
      ['fail_on_error'],
      `fail_on_error must be true or false, not ${JSON.stringify(value)}`,
      'Write it without quotes.',
    );
  }

  refreshOn(): void {
    const value = this.#given('refresh_on');
    if (value === undefined || Array.isArray(value) || isOpen(value)) return;
    this.#bad(['refresh_on'], `refresh_on must be a list of names, not ${kindOf(value)}`, 'Write [nova_config].');
  }

  condition(): void {
    const condition = this.#given('condition');
    if (typeof condition === 'string' && condition !== '' && !condition.includes('{')) {
      this.#problems.attempt([...this.#at, 'condition'], () => parseLegacyCondition(condition));
    }
  }

  expressions(): void {
    for (const [field, value] of Object.entries(this.#task)) {
      // Both spellings of a field have the same value.
      if (
        field === 'id' ||
        (field.includes('-') && Object.hasOwn(this.#task, field.replaceAll('-', '_'))) ||
        (field === 'role' && Object.hasOwn(this.#task, 'roles'))
      )
        continue;
      const template = this.#problems.attempt(this.#at, () => compileTemplate(value, [field]));
      if (template !== undefined)
        for (const { expression, path } of expressionsIn(template)) {
          const wrong = syntaxProblem(expression);
          if (wrong !== undefined)
            this.#problems.error([...this.#at, ...path], 'graph.bad-yaql', wrong.message, wrong.hint);
        }
    }
  }
}
