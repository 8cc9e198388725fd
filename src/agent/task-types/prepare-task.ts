import { printPath } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { findTaskType, type TaskInput, typesOver } from '../../core/task-types/index.ts';
import { checkExecution, type Execution } from '../journal/execution.ts';
import { copyFiles, uploadFile, uploadFiles } from './files.ts';
import { packageFiles } from './package-files.ts';
import { puppet } from './puppet.ts';
import { reboot } from './reboot.ts';
import { masterShell, shell } from './shell.ts';
import { sync } from './sync.ts';
import { type Runnable, runner, type TaskRunner } from './task-runner.ts';

type Preparation =
  | { readonly ok: true; readonly task: Runnable }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

const MAX_PROBLEMS = 20;

/** Reads an execution's parameters by its type, or reports all problems. */
export function prepareTask(execution: Execution): Preparation {
  const frame = checkExecution(execution);
  if (frame.length > 0) return { ok: false, problems: frame.slice(0, MAX_PROBLEMS) };
  const runner = findRunner(execution.type);
  if (runner === undefined) {
    const problem: Diagnostic = {
      severity: 'error',
      code: 'execution.unknown-type',
      message: `this agent has no task type "${execution.type.slice(0, 100)}"`,
      hint: `It has ${typesOver('agent').join(', ')}. A newer agent may have more.`,
      path: 'type',
    };
    return { ok: false, problems: [problem] };
  }
  const task = runner.read(execution.parameters, { node: execution.node });
  const problems = task.problems
    .filter(({ kind }) => kind !== 'unknown')
    .map(
      ({ path, message, hint }): Diagnostic => ({
        severity: 'error',
        code: 'parameters.invalid',
        message,
        hint,
        path: printPath(['parameters', ...path]),
      }),
    );
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
  const used = (execution.secrets ?? []).map(({ ref }): TaskInput => ({ kind: 'secret', ref }));
  return { ok: true, task: { ...task, inputs: [...task.inputs, ...used] } };
}

/** How nodes carry tasks out. Names and parameters of types are in src/core/task-types. */
const runners: readonly TaskRunner[] = [
  copyFiles,
  masterShell,
  packageFiles,
  puppet,
  reboot,
  shell,
  sync,
  uploadFile,
  uploadFiles,
];

const byName = new Map(runners.map((one) => [one.type.name, one]));

/** How a node carries tasks of a type out; undefined for types that nodes do not carry out. */
export function findRunner(name: string): TaskRunner | undefined {
  const type = findTaskType(name);
  if (type === undefined || type.kind === 'work' || !type.over.includes('agent')) return byName.get(name);
  return runner(type, { run: async () => ({ failure: null, changed: false }) });
}
