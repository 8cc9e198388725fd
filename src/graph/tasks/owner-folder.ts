import { isMapping, setKey } from '../../core/data/plain-value.ts';
import { isExpression } from '../fields/template.ts';
import type { GraphTask } from './task.ts';

/** A task in the folder of its owner's files. */
export interface TaskInFolder {
  readonly task: GraphTask;
  /** Of parameters that are one expression: the `cwd` that its value gets. */
  readonly folder?: string;
}

/** The task with the folder as its `cwd`, unless it has its own, or no parameters. */
export function inOwnersFolder(task: GraphTask, folder: string | undefined): TaskInFolder {
  const { parameters } = task;
  if (folder === undefined) return { task };
  if (isExpression(parameters)) return { task, folder };
  if (!isMapping(parameters) || Object.keys(parameters).length === 0 || 'cwd' in parameters) return { task };
  const withCwd: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(parameters)) setKey(withCwd, key, value);
  return { task: { ...task, parameters: { ...withCwd, cwd: folder } } };
}
