import { isMapping } from '../plain-value.js';
import * as files from './files.js';
import * as machines from './machines.js';
import * as order from './order.js';
import type { ParameterProblem, Reading } from './parameter.js';
import * as scripts from './scripts.js';
import type { TaskType, Transport } from './task-type.js';

export { allowedPath } from './allowed-path.js';
export type { Content, Parameter, ParameterProblem, Parameters, Reading, Values } from './parameter.js';
export type { Prepared, TaskInput, TaskLimits, TaskType, Transport } from './task-type.js';

/** Every type of task that the files beside this one export, by name. What is known of types elsewhere is derived from here. */
export const TASK_TYPES = Object.values({ ...scripts, ...files, ...machines, ...order }).sort((a, b) =>
  a.name < b.name ? -1 : 1,
);
export const TASK_TYPE_NAMES = TASK_TYPES.map(({ name }) => name);
export type TaskTypeName = (typeof TASK_TYPE_NAMES)[number];

const byName: ReadonlyMap<unknown, TaskType> = new Map<string, TaskType>(TASK_TYPES.map((type) => [type.name, type]));

export const findTaskType = (name: unknown): TaskType | undefined => byName.get(name);

/** Names of the types that are carried out so. */
export const typesOver = (transport: Transport): readonly TaskTypeName[] =>
  TASK_TYPES.filter(({ over }) => over.includes(transport)).map(({ name }) => name);

/** Whether a type of task holds work; tasks without work never become activities. */
export const hasWork = (type: string | undefined): boolean => (findTaskType(type)?.kind ?? 'work') === 'work';

/** Whether tasks of the type only place and order others: they are never switched off by a selection of tasks. */
export const onlyOrders = (type: unknown): boolean => findTaskType(type)?.kind === 'order';

/**
 * Whether a task of the type goes to the agent `master`, whichever node it is about: the node itself cannot carry it
 * out, and need not be there.
 */
export const goesToMaster = (type: string): boolean => findTaskType(type)?.over[0] === 'maas';

/** Whether tasks of the type run a script of any content. */
export const runsAnyScript = (type: string): boolean => findTaskType(type)?.anyScript === true;

/** All that is wrong with the parameters of a task, and what in them no one reads. */
export function checkParameters(
  type: unknown,
  parameters: unknown,
  reading: Reading = {},
): readonly ParameterProblem[] {
  const known = findTaskType(type);
  if (known === undefined || known.kind !== 'work') return [];
  return known.prepare(isMapping(parameters) ? parameters : {}, reading).problems;
}
