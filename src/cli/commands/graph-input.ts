import type { Engine, FunctionDefinition } from '@sitewright/yaql';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { formatDiagnostics, type Sources } from '../../documents/diagnostics/format-diagnostics.ts';
import type { GraphSource, MergedTask, Plan, PlanInput } from '../../graph/index.ts';
import { inputName, readInput } from '../shell/read-input.ts';
import type { Session } from '../shell/session.ts';
import type { Complaints } from '../shell/terminal.ts';
import { loadYaqlHelpers } from './yaql-user-functions.ts';

type PlannedFile =
  | {
      readonly ok: true;
      readonly plan: Plan;
      readonly input: PlanInput;
      /** Warnings of reading and planning, with their places. */
      readonly problems: readonly Diagnostic[];
      readonly source: GraphSource;
      /** The text of the file. */
      readonly sources: Sources;
    }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/**
 * Reads a file and plans it, with the configured helper functions; reports problems with file, line and column. `-` is
 * standard input.
 */
export async function planFile(session: Session, file: string): Promise<PlannedFile> {
  const { terminal } = session;
  const name = inputName(file);
  const text = await readInput(file);
  const { placeInSource, planGraph, readPlanText } = await import('../../graph/index.ts');
  const read = readPlanText(text, name);
  if (!read.ok) {
    say(read.problems, terminal, [{ name, text }]);
    return { ok: false, problems: read.problems };
  }
  const helpers = await loadYaqlHelpers(session);
  const input = helpers.length === 0 ? read.input : { ...read.input, engine: await engineWith(helpers) };
  const planned = planGraph(input);
  if (!planned.ok) {
    const found = [...read.problems, ...placeInSource(planned.problems, read.source)];
    say(found, terminal, [{ name, text }]);
    return { ok: false, problems: found };
  }
  const problems = [...read.problems, ...placeInSource(planned.plan.problems, read.source)];
  return { ok: true, plan: planned.plan, input, problems, source: read.source, sources: [{ name, text }] };
}

async function engineWith(helpers: readonly FunctionDefinition[]): Promise<Engine> {
  const { createTaskEngine } = await import('@sitewright/yaql');
  const engine = createTaskEngine({ cacheSize: 20_000 });
  engine.registerDefinitions(helpers);
  return engine;
}

export type ReadGraph =
  | {
      readonly ok: true;
      readonly tasks: readonly MergedTask[];
      readonly problems: readonly Diagnostic[];
      readonly value: unknown;
      /** The text of the file; absent for a stored graph. */
      readonly sources?: Sources;
      /** Tasks on nodes, where it was planned. */
      readonly instances?: number;
    }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads only the tasks of a file: a list, or an object with `tasks` or `layers`. Reports their problems. */
export async function readGraphFile(file: string, terminal: Complaints): Promise<ReadGraph> {
  const name = inputName(file);
  const text = await readInput(file);
  const { checkGraph, placeInSource, readSource, readTasks } = await import('../../graph/index.ts');
  const read = readSource(text, name);
  if (!read.ok) {
    say(read.problems, terminal, [{ name, text }]);
    return { ok: false, problems: read.problems };
  }
  const { source } = read;
  const { tasks, problems } = readTasks(source.value);
  const all = [...source.warnings, ...placeInSource([...problems, ...checkGraph(tasks)], source)];
  if (problems.some(({ severity }) => severity === 'error')) {
    say(all, terminal, [{ name, text }]);
    return { ok: false, problems: all };
  }
  return { ok: true, tasks, problems: all, value: source.value, sources: [{ name, text }] };
}

/** Problems as all checks print them: each with its line of the sources, a hint and other places. */
export function say(problems: readonly Diagnostic[], terminal: Complaints, sources: Sources = []): void {
  const { all = false } = terminal;
  if (problems.length > 0) terminal.err(formatDiagnostics(problems, sources, { paths: true, all }));
}
