import type { Diagnostic } from '../core/diagnostic.js';
import { checkExecution, type Execution } from './execution.js';
import { ParameterReader } from './parameters.js';
import { findTaskType, taskTypeNames } from './task-registry.js';
import type { TaskInput, TaskLimits, TaskType } from './task-type.js';

/** A task whose type is known and whose parameters are right. */
export interface PreparedTask {
  readonly type: TaskType;
  readonly parameters: unknown;
  readonly limits: TaskLimits;
  readonly inputs: readonly TaskInput[];
}

export type Preparation =
  | { readonly ok: true; readonly task: PreparedTask }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

const MOST_PROBLEMS = 20;

/** Reads an execution's parameters by its type; otherwise says everything that is wrong. */
export function prepareTask(execution: Execution): Preparation {
  const frame = checkExecution(execution);
  if (frame.length > 0) return { ok: false, problems: frame.slice(0, MOST_PROBLEMS) };
  const type = findTaskType(execution.type);
  if (type === undefined) {
    const problem: Diagnostic = {
      severity: 'error',
      code: 'execution.unknown-type',
      message: `this agent has no task type "${execution.type.slice(0, 100)}"`,
      hint: `It has ${taskTypeNames.join(', ')}. A newer agent may have more.`,
      path: 'type',
    };
    return { ok: false, problems: [problem] };
  }
  const reader = new ParameterReader(execution.parameters);
  const parameters = type.read(reader, execution.node);
  if (reader.problems.length > 0) return { ok: false, problems: reader.problems.slice(0, MOST_PROBLEMS) };
  const limits = type.limits(parameters);
  const used = (execution.secrets ?? []).map((secret) => ({ kind: 'secret', ref: secret.ref }) as const);
  return {
    ok: true,
    task: { type, parameters, limits, inputs: [...(type.inputs?.(parameters) ?? []), ...used] },
  };
}
