import { type Diagnostic, groupProblems, printOthers } from '../../core/diagnostic.js';
import type { GraphSource, MergedTask, Plan, PlanInput } from '../../graph/index.js';
import { readStandardInput } from '../read-input.js';

export type PlannedFile =
  | {
      readonly ok: true;
      readonly plan: Plan;
      readonly input: PlanInput;
      /** Warnings of reading and planning, with their places. */
      readonly problems: readonly Diagnostic[];
      readonly source: GraphSource;
    }
  | { readonly ok: false };

/** Reads a file and plans it; reports problems with file, line and column. `-` is standard input. */
export async function planFile(file: string, complain: (text: string) => void): Promise<PlannedFile> {
  const name = file === '-' ? 'standard input' : file;
  const text = await readText(file, complain);
  if (text === undefined) return { ok: false };
  const { placeInSource, planGraph, readPlanText } = await import('../../graph/index.js');
  const read = readPlanText(text, name);
  if (!read.ok) {
    say(read.problems, complain);
    return { ok: false };
  }
  const planned = planGraph(read.input);
  if (!planned.ok) {
    say([...read.problems, ...placeInSource(planned.problems, read.source)], complain);
    return { ok: false };
  }
  const problems = [...read.problems, ...placeInSource(planned.plan.problems, read.source)];
  return { ok: true, plan: planned.plan, input: read.input, problems, source: read.source };
}

export type ReadGraph =
  | {
      readonly ok: true;
      readonly tasks: readonly MergedTask[];
      readonly problems: readonly Diagnostic[];
      readonly value: unknown;
    }
  | { readonly ok: false };

/** Reads only the tasks of a file: a list, or an object with `tasks` or `layers`. Reports their problems. */
export async function readGraphFile(file: string, complain: (text: string) => void): Promise<ReadGraph> {
  const name = file === '-' ? 'standard input' : file;
  const text = await readText(file, complain);
  if (text === undefined) return { ok: false };
  const { checkGraph, placeInSource, readSource, readTasks } = await import('../../graph/index.js');
  const read = readSource(text, name);
  if (!read.ok) {
    say(read.problems, complain);
    return { ok: false };
  }
  const { source } = read;
  const { tasks, problems } = readTasks(source.value);
  const all = [...source.warnings, ...placeInSource([...problems, ...checkGraph(tasks)], source)];
  if (problems.some(({ severity }) => severity === 'error')) {
    say(all, complain);
    return { ok: false };
  }
  return { ok: true, tasks, problems: all, value: source.value };
}

/** The text of a file or of standard input; reports an error when it cannot be read. */
async function readText(file: string, complain: (text: string) => void): Promise<string | undefined> {
  const { readFile } = await import('node:fs/promises');
  try {
    return file === '-' ? await readStandardInput() : await readFile(file, 'utf8');
  } catch (error) {
    const hint = 'Name a readable file, or - for standard input.';
    say([{ severity: 'error', code: 'graph.unreadable', message: (error as Error).message, hint, file }], complain);
    return undefined;
  }
}

/** One line per problem, `file:line:column: severity[code]: path: message`, then hint and other places. */
export function say(problems: readonly Diagnostic[], complain: (text: string) => void): void {
  for (const { first, others } of groupProblems(problems)) {
    const { file, line, column, severity, code, path, message, hint } = first;
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    const where = path === undefined ? '' : `${path}: `;
    const next = hint === undefined ? '' : `\n${hint.replace(/^/gm, '    ')}`;
    const more = printOthers(others);
    complain(
      `${place === '' ? '' : `${place}: `}${severity}[${code}]: ${where}${message}${next}${more === undefined ? '' : `\n    ${more}`}\n`,
    );
  }
}
