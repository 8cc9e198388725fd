import type { ValuePath } from '../../core/data/plain-value.ts';
import { createTicket } from '../../core/next-steps.ts';
import { INSTALLATION } from '../../core/site-run/site-name.ts';
import { goesToMaster, hasWork } from '../../core/task-types/index.ts';
import { someOf } from '../../core/text/text.ts';
import type { GraphProblem } from '../problem.ts';
import type { GraphTask } from '../tasks/task.ts';
import { MASTER } from './node-resolver.ts';

/** How many tasks a message names. */
const SHOWN = 10;

/** The refusal of tasks on `master` where the setting `agent.master` allows no agent there: one, however many tasks. */
export function masterDenied(tasks: readonly string[], at: ValuePath = []): GraphProblem {
  return {
    severity: 'error',
    code: 'graph.master-denied',
    message: `tasks need an agent on '${MASTER}': ${someOf(tasks, SHOWN)}; the setting agent.master denies it`,
    hint: `Set agent.master: allow for API and worker, and start an agent with: ${createTicket(INSTALLATION, MASTER)} (docs/how-to/agents.md#tasks-on-master). Or place the tasks on other nodes.`,
    at,
  };
}

/**
 * Ids of the tasks that an agent on `master` would run in every cluster, as far as the definitions tell. An expression or
 * a tag's name may still place others there, which only a plan shows.
 * @param below tasks of the layers below, whose groups may place tasks, too
 */
export function tasksForMaster(tasks: readonly GraphTask[], below: readonly GraphTask[] = []): readonly string[] {
  const own = new Set(tasks.map(({ id }) => id));
  const groups = [...tasks, ...below.filter(({ id }) => !own.has(id))].filter(({ type }) => type === 'group');
  const there = new Set<unknown>(groups.filter((group) => isThere(group, NONE)).map(({ id }) => id));
  const listed = new Set<unknown>(
    groups.flatMap(({ id, tasks: members }) => (there.has(id) && Array.isArray(members) ? (members as unknown[]) : [])),
  );
  return tasks.filter((task) => runsThere(task) && (listed.has(task.id) || isThere(task, there))).map(({ id }) => id);
}

/** Of those, the tasks that need no plan to be told: nothing but their own words places them, in whatever cluster and run. */
export const tasksSurelyForMaster = (tasks: readonly GraphTask[]): readonly string[] =>
  tasks
    .filter((task) => runsThere(task) && listed(task.condition).length === 0 && isThere({ ...task, groups: [] }, NONE))
    .map(({ id }) => id);

const NONE: ReadonlySet<unknown> = new Set();

/** An expression for the type may give any; stored types are nearly always text. */
const runsThere = ({ type, condition }: GraphTask): boolean =>
  typeof type === 'string' && hasWork(type) && !goesToMaster(type) && condition !== false && condition !== 'false';

/** By the first of `tags`, `roles` and `groups` that is not empty, as `placeTasks` does. */
function isThere({ tags, roles, groups }: GraphTask, groupsThere: ReadonlySet<unknown>): boolean {
  const names = [tags, roles].map(listed).find((some) => some.length > 0);
  return names === undefined
    ? listed(groups).some((name) => name === MASTER || groupsThere.has(name))
    : names.includes(MASTER);
}

/** An expression is a mapping, and names nothing yet, but counts: what comes after it is not read. */
function listed(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null || value === '' ? [] : [value];
}
