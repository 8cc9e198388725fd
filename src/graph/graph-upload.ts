import { isMapping, type ValuePath } from '../core/data/plain-value.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { NODE_STATUSES } from '../core/words.ts';
import { syntaxProblem } from '../documents/expression-syntax.ts';
import { checkGraph, warnOfRoles, warnOfUnknownNames } from './check-graph.ts';
import { masterDenied, tasksForMaster } from './placing/master-agent.ts';
import { type GraphProblem, Problems } from './problem.ts';
import { checkTask, isNamed } from './tasks/check-task.ts';
import type { MergedTask } from './tasks/merge-layers.ts';
import { type GraphTask, normaliseTask } from './tasks/task.ts';
import { taskGraph } from './tasks/task-graph.ts';

/** How the end of a graph changes its nodes. */
interface NodeOutcome {
  readonly node_attributes?: {
    readonly status?: string | null;
    readonly pending_addition?: boolean | null;
    readonly pending_deletion?: boolean | null;
    readonly error_msg?: string | null;
    readonly error_type?: string | null;
  };
}

/** The fields of a graph that its owner may write, as sent. */
export interface GraphUpload {
  readonly name?: string | null;
  readonly node_filter?: string | null;
  readonly on_success?: NodeOutcome | null;
  readonly on_error?: NodeOutcome | null;
  readonly on_stop?: NodeOutcome | null;
  readonly tasks?: readonly GraphTask[];
}

/** A checked upload: `upload` has the usable fields, `problems` has all findings with their places. */
interface CheckedUpload {
  readonly upload: GraphUpload;
  readonly problems: readonly GraphProblem[];
}

/** The tasks that surround those of an upload. */
export interface GraphSurroundings {
  /** Tasks of the layers below, which a cluster's upload overrides by id. */
  readonly below?: readonly GraphTask[];
  /** Names that may be defined elsewhere, so that a dependency on them is valid. */
  readonly known?: ReadonlySet<string>;
  /** No agent on `master` is allowed (the setting `agent.master`): tasks for it are refused. */
  readonly masterDenied?: boolean;
}

const CALLBACKS = ['on_success', 'on_error', 'on_stop'] as const;
const GRAPH_FIELDS = ['name', 'node_filter', ...CALLBACKS, 'tasks'] as const;
const NODE_FIELDS = ['status', 'pending_addition', 'pending_deletion', 'error_msg', 'error_type'] as const;

/** Statuses a graph may leave its nodes in; a deleted one is removed from the inventory. */
const STATUSES_AFTER = [...NODE_STATUSES, 'deleted'] as const;

/** Fields in which the API refuses null, although planning treats null as absent. */
const NEVER_NULL = [
  'id',
  'type',
  'version',
  'parameters',
  'requires',
  'required_for',
  'cross-depends',
  'cross_depends',
  'cross-depended-by',
  'cross_depended_by',
] as const;

const RELATIONS = ['cross-depends', 'cross_depends', 'cross-depended-by', 'cross_depended_by'] as const;

const LONGEST_FILTER = 4096;

/** Checks a graph from a user: an object. Never throws for bad input. */
export function checkGraphUpload(body: unknown, surroundings: GraphSurroundings = {}): CheckedUpload {
  const problems = new Problems();
  if (!isMapping(body)) {
    const list = Array.isArray(body);
    problems.error(
      [],
      'graph.bad-graph',
      `a graph is an object, this is ${list ? 'a list' : body === null ? 'null' : typeof body}`,
      list ? 'Put the list of tasks into it: {"tasks": […]}.' : 'Send {"name": …, "tasks": […]}.',
    );
    return { upload: {}, problems: problems.all() };
  }
  for (const key of Object.keys(body)) {
    if ((GRAPH_FIELDS as readonly string[]).includes(key)) continue;
    const hint =
      key === 'id' || key === 'relations'
        ? 'The service sets it: omit it.'
        : (didYouMean(key, GRAPH_FIELDS) ?? `Known: ${GRAPH_FIELDS.join(', ')}.`);
    problems.error([key], 'graph.unknown-field', `a graph has no field '${key}'`, hint);
  }
  const upload: Record<string, unknown> = {};
  if (body.name !== undefined) {
    if (typeof body.name === 'string' || body.name === null) upload.name = body.name;
    else problems.error(['name'], 'graph.bad-graph', `the name must be text, not ${kind(body.name)}`, 'Quote it.');
  }
  if (body.node_filter !== undefined && checkFilter(body.node_filter, problems)) upload.node_filter = body.node_filter;
  for (const field of CALLBACKS) {
    if (body[field] !== undefined && checkOutcome(body[field], field, problems)) upload[field] = body[field];
  }
  if (body.tasks !== undefined) upload.tasks = checkTasks(body.tasks, ['tasks'], surroundings, problems);
  return { upload, problems: problems.all() };
}

/** Checks a plain list of tasks, as older tools send it. */
export function checkTaskList(body: unknown, surroundings: GraphSurroundings = {}): CheckedUpload {
  const problems = new Problems();
  const tasks = checkTasks(body, [], surroundings, problems);
  return { upload: { tasks }, problems: problems.all() };
}

function checkFilter(filter: unknown, problems: Problems): boolean {
  const at = ['node_filter'];
  if (filter === null) return true;
  if (typeof filter !== 'string') {
    problems.error(
      at,
      'graph.bad-graph',
      `the node filter must be text, not ${kind(filter)}`,
      'Write a YAQL predicate.',
    );
    return false;
  }
  if (filter.length > LONGEST_FILTER) {
    problems.error(at, 'graph.bad-graph', `the node filter has more than ${LONGEST_FILTER} characters`, 'Shorten it.');
    return false;
  }
  return filter.trim() === '' || checkExpression(filter, at, problems);
}

function checkExpression(expression: string, at: ValuePath, problems: Problems): boolean {
  const wrong = syntaxProblem(expression);
  if (wrong !== undefined) problems.error(at, 'graph.bad-yaql', wrong.message, wrong.hint);
  return wrong === undefined;
}

function checkOutcome(value: unknown, field: string, problems: Problems): boolean {
  if (value === null) return true;
  if (!isMapping(value)) {
    problems.error([field], 'graph.bad-graph', `${field} must be an object, not ${kind(value)}`, OUTCOME_HINT);
    return false;
  }
  let good = refuseOthers(value, ['node_attributes'], [field], problems);
  const attributes = value.node_attributes;
  if (attributes === undefined) return good;
  const at = [field, 'node_attributes'];
  if (!isMapping(attributes)) {
    problems.error(at, 'graph.bad-graph', `node_attributes must be an object, not ${kind(attributes)}`, OUTCOME_HINT);
    return false;
  }
  good = refuseOthers(attributes, NODE_FIELDS, at, problems) && good;
  for (const [name, given] of Object.entries(attributes)) {
    const wrong = wrongAttribute(name, given);
    if (wrong === undefined) continue;
    problems.error([...at, name], 'graph.bad-graph', wrong, 'Correct it.');
    good = false;
  }
  return good;
}

const OUTCOME_HINT = 'Write {"node_attributes": {"status": "ready"}}.';

function wrongAttribute(name: string, value: unknown): string | undefined {
  switch (name) {
    case 'status':
      if ((STATUSES_AFTER as readonly unknown[]).includes(value)) return undefined;
      return `${JSON.stringify(value)} is not a status of a node: use one of ${STATUSES_AFTER.join(', ')}`;
    case 'pending_addition':
    case 'pending_deletion':
      return typeof value === 'boolean' ? undefined : `${name} must be true or false, not ${kind(value)}`;
    case 'error_msg':
    case 'error_type':
      return typeof value === 'string' || value === null ? undefined : `${name} must be text, not ${kind(value)}`;
    default:
      return undefined;
  }
}

function refuseOthers(value: Mapping, known: readonly string[], at: ValuePath, problems: Problems): boolean {
  const others = Object.keys(value).filter((key) => !known.includes(key));
  for (const key of others) {
    const hint = didYouMean(key, known) ?? `Known: ${known.join(', ')}.`;
    problems.error([...at, key], 'graph.unknown-field', `there is no field '${key}' here`, hint);
  }
  return others.length === 0;
}

function checkTasks(
  value: unknown,
  at: ValuePath,
  surroundings: GraphSurroundings,
  problems: Problems,
): readonly GraphTask[] {
  if (!Array.isArray(value)) {
    problems.error(at, 'graph.bad-graph', `tasks must be a list, not ${kind(value)}`, 'Write […]; empty is [].');
    return [];
  }
  const placed = value.flatMap((one: unknown, index) => {
    const place = [...at, index];
    const complete = refuseNulls(one, place, problems);
    const sound = checkTask(one, place, problems) && complete && hasFullVersion(one.version, place, problems);
    return sound || isNamed(one) ? [{ task: normaliseTask(one), given: one, at: place }] : [];
  });
  refuseDuplicates(placed, at, problems);
  checkOrder(placed, surroundings, problems);
  warnOfRoles(placed, problems);
  if (surroundings.masterDenied) {
    const names = tasksForMaster(
      placed.map(({ task }) => task),
      surroundings.below,
    );
    if (names.length > 0) problems.add(masterDenied(names, at));
  }
  return placed.map(({ task }) => task);
}

/** Planning also accepts shorter versions, from before they had three numbers. */
function hasFullVersion(version: unknown, at: ValuePath, problems: Problems): boolean {
  if (version === undefined || isMapping(version)) return true;
  if (typeof version === 'string' && /^\d+\.\d+\.\d+$/.test(version)) return true;
  const message = `${JSON.stringify(version)} is not a version`;
  problems.error([...at, 'version'], 'graph.bad-task', message, 'Write three numbers as text, e.g. "2.1.0".');
  return false;
}

function refuseNulls(task: unknown, at: ValuePath, problems: Problems): boolean {
  if (!isMapping(task)) return true;
  const nulls = NEVER_NULL.filter((field) => task[field] === null);
  for (const field of nulls)
    problems.error([...at, field], 'graph.bad-task', `${field} is null`, 'Give it a value, or omit it.');
  let unnamed = 0;
  for (const field of RELATIONS) {
    const relations = task[field];
    if (!Array.isArray(relations)) continue;
    relations.forEach((relation: unknown, index) => {
      if (!isMapping(relation) || Object.keys(relation).length > 0) return;
      unnamed += 1;
      const message = 'the relation has no name';
      problems.error([...at, field, index], 'graph.bad-task', message, 'Add the name of a task, or "/regex/".');
    });
  }
  return nulls.length === 0 && unnamed === 0;
}

interface PlacedTask {
  readonly task: GraphTask;
  readonly given: Mapping;
  readonly at: ValuePath;
}

function refuseDuplicates(placed: readonly PlacedTask[], at: ValuePath, problems: Problems): void {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { task } of placed) {
    if (seen.has(task.id)) twice.add(task.id);
    seen.add(task.id);
  }
  if (twice.size === 0) return;
  const names = [...twice].sort().join(', ');
  problems.error(
    at,
    'graph.duplicate-task',
    `Tasks duplication found: ${names}`,
    'Task ids are unique in a graph: rename or remove one of each.',
  );
}

/** Cycles that the upload creates, and undefined names in it. */
function checkOrder(placed: readonly PlacedTask[], surroundings: GraphSurroundings, problems: Problems): void {
  const own = new Set(placed.map(({ task }) => task.id));
  const below = (surroundings.below ?? []).filter(({ id }) => !own.has(id));
  const merged = (tasks: readonly PlacedTask[], layer: MergedTask['layer']): MergedTask[] =>
    tasks.map((one) => ({ ...one, layer, replaces: [] }));
  const others = merged(
    below.map((task) => ({ task, given: task, at: [] })),
    'release',
  );
  // First, for the check of cycles also reports the patterns that took too long here.
  const graph = taskGraph([...placed.map(({ task }) => task), ...below], { cross: true });
  const before = new Set(cyclesOf(others).map(({ message }) => message));
  for (const problem of cyclesOf([...merged(placed, 'cluster'), ...others])) {
    if (!before.has(problem.message)) problems.add(problem);
  }
  const places = new Map(placed.map((one) => [one.task.id, one]));
  warnOfUnknownNames(graph, places, problems, surroundings.known);
}

/** All but what the upload checks itself, for its own tasks only. */
const cyclesOf = (tasks: readonly MergedTask[]): GraphProblem[] =>
  checkGraph(tasks).filter(({ severity, code }) => severity === 'error' || ORDER_WARNINGS.includes(code));

const ORDER_WARNINGS: readonly string[] = ['graph.possible-cycle', 'graph.group-dependency'];

type Mapping = Readonly<Record<string, unknown>>;

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : JSON.stringify(value);
}
