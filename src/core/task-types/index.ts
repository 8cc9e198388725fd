import { isMapping } from '../data/plain-value.ts';
import * as files from './files.ts';
import * as machines from './machines.ts';
import * as order from './order.ts';
import * as packages from './package-files.ts';
import type { ParameterProblem, Reading } from './parameter.ts';
import * as scripts from './scripts.ts';
import type { TaskType, Transport } from './task-type.ts';

export { allowedPath } from './allowed-path.ts';
export { goesToMaster, hasWork } from './off-agent.ts';
export type { Content, ParameterProblem, Parameters, Reading } from './parameter.ts';
export type { Prepared, TaskInput, TaskLimits, TaskType, Transport } from './task-type.ts';

/**
 * All task types exported by the other files of this folder, by name. Everything else about types is derived from this
 * list.
 */
export const TASK_TYPES = Object.values({ ...scripts, ...files, ...packages, ...machines, ...order }).sort((a, b) =>
  a.name < b.name ? -1 : 1,
);
export const TASK_TYPE_NAMES = TASK_TYPES.map(({ name }) => name);
type TaskTypeName = (typeof TASK_TYPE_NAMES)[number];

const byName: ReadonlyMap<unknown, TaskType> = new Map<string, TaskType>(TASK_TYPES.map((type) => [type.name, type]));

export const findTaskType = (name: unknown): TaskType | undefined => byName.get(name);

/** Names of the types with this transport. */
export const typesOver = (transport: Transport): readonly TaskTypeName[] =>
  TASK_TYPES.filter(({ over }) => over.includes(transport)).map(({ name }) => name);

/** Whether tasks of the type only place and order others: a selection of tasks never disables them. */
export const onlyOrders = (type: unknown): boolean => findTaskType(type)?.kind === 'order';

/** Whether tasks of the type run arbitrary scripts. */
export const runsAnyScript = (type: string): boolean => findTaskType(type)?.anyScript === true;

/** All problems of a task's parameters, including unused ones. */
export function checkParameters(
  type: unknown,
  parameters: unknown,
  reading: Reading = {},
): readonly ParameterProblem[] {
  const known = findTaskType(type);
  if (known === undefined || known.kind !== 'work') return [];
  return known.prepare(isMapping(parameters) ? parameters : {}, reading).problems;
}
