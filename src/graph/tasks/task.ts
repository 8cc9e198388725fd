import { isMapping, setKey } from '../../core/data/plain-value.ts';
/**
 * A task for planning: one spelling of each field, no empty fields. `id` and `type` are always
 * present after {@link normaliseTask} of a task that passed `checkTask`.
 */
export interface GraphTask {
  readonly id: string;
  readonly type: unknown;
  readonly version?: unknown;
  readonly condition?: unknown;
  readonly groups?: unknown;
  readonly tasks?: unknown;
  readonly roles?: unknown;
  readonly tags?: unknown;
  readonly requires?: unknown;
  readonly required_for?: unknown;
  readonly cross_depends?: unknown;
  readonly cross_depended_by?: unknown;
  readonly parameters?: unknown;
  readonly fault_tolerance?: unknown;
  readonly fail_on_error?: unknown;
  readonly [custom: string]: unknown;
}

/** A mapping read from JSON or YAML. */
export type Fields = Readonly<Record<string, unknown>>;

/** Fields a graph stores separately; all others are kept unchanged. */
const STORED = [
  'version',
  'condition',
  'type',
  'groups',
  'tasks',
  'roles',
  'reexecute_on',
  'refresh_on',
  'required_for',
  'requires',
  'cross_depended_by',
  'cross_depends',
  'parameters',
] as const;

/** The other spelling of a field. */
const OTHER_SPELLING = {
  roles: 'role',
  cross_depends: 'cross-depends',
  cross_depended_by: 'cross-depended-by',
} as const;

const KNOWN: ReadonlySet<string> = new Set([...STORED, ...Object.values(OTHER_SPELLING), 'id', 'task_name']);

/** Fields that something reads. A task may have others, which are kept. */
export const READ_FIELDS: ReadonlySet<string> = new Set([
  ...KNOWN,
  'tags',
  'fault_tolerance',
  'fail_on_error',
  'secrets',
  'stage',
]);

/** Roles with a special meaning: a list with one of them means the plain word. */
const SPECIAL_ROLES: ReadonlySet<unknown> = new Set(['*', 'master', 'self']);

/** The few texts that cannot be task ids: JavaScript finds something of its own under them (`__proto__`, `toString`). */
export const isUnusableId = (text: string): boolean => text in Object.prototype;

const DEFAULT_VERSION = '1.0.0';

/** Whether a stored field counts as absent. A literal `false` is a value: it switches a condition off. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMapping(value) && Object.keys(value).length === 0;
}

const listed = (value: unknown): unknown => (typeof value === 'string' ? [value] : value);

/**
 * The task from user input or from the API's form of a task: both spellings of a field become one, an empty stored
 * field is absent, a single `role` or `groups` becomes a list. Tasks that differ only in this way are planned alike.
 */
export function normaliseTask(given: Fields): GraphTask {
  const out: Record<string, unknown> = { id: given.id ?? given.task_name };
  for (const field of STORED) {
    const other = OTHER_SPELLING[field as keyof typeof OTHER_SPELLING];
    const plain = given[field];
    let value = plain !== undefined || other === undefined ? plain : given[other];
    if (field === 'groups' || (field === 'roles' && plain === undefined)) value = listed(value);
    if (field === 'roles' && Array.isArray(value) && value.length === 1 && SPECIAL_ROLES.has(value[0])) [value] = value;
    if (!isEmpty(value)) out[field] = value;
  }
  out.version ??= DEFAULT_VERSION;
  for (const [key, value] of Object.entries(given)) if (!KNOWN.has(key)) setKey(out, key, value);
  return out as GraphTask;
}

/** The task as the API returns it: with both spellings of the fields that have two. */
export function presentTask(task: GraphTask): Fields {
  const out: Record<string, unknown> = { task_name: task.id, ...task };
  for (const [field, other] of Object.entries(OTHER_SPELLING)) if (field in task) out[other] = task[field];
  return out;
}
