import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { SimulationResult } from '../../core/scheduler/simulate.ts';
import type { TaskStatus } from '../../core/words.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT, type ExitCode } from '../shell/exit-codes.ts';
import { inputName, readInput } from '../shell/read-input.ts';
import type { Session } from '../shell/session.ts';
import type { Complaints } from '../shell/terminal.ts';
import { say } from './graph-input.ts';

/** Adds `simulate --input FILE` to the `graph` command. Offline: it reads a file and calls the scheduler. */
export function registerGraphSimulate(graph: CliCommand, session: Session): void {
  graph
    .verb('simulate', 'Run plans through the scheduler with instant tasks and print the result, one line of JSON each')
    .example('--input plans.jsonl')
    .requiredOption(
      '--input <file>',
      'plans to simulate, as one JSON object, a list, or JSON Lines; - reads standard input',
    )
    .action(async (options: { readonly input: string }) => {
      process.exitCode = await simulateFile(options.input, session.terminal.out, session.terminal);
    });
}

/**
 * Prints a line for each readable input, and the problems of the others with their places.
 * Returns the exit code: 0, or 1 when any input could not be read. A refused run is a result, not a problem.
 */
export async function simulateFile(file: string, print: (text: string) => void, terminal: Complaints): Promise<number> {
  const [{ readJsonCases }, { simulate }, { readSimulation }] = await Promise.all([
    import('../shell/json-cases.ts'),
    import('../../core/scheduler/simulate.ts'),
    import('../../core/scheduler/simulation-input.ts'),
  ]);
  const name = inputName(file);
  const text = await readInput(file);
  const cases = readJsonCases(text);
  let code: ExitCode = EXIT.done;
  for (const { line, ...one } of cases) {
    const result = one.ok ? readSimulation(one.value) : { ok: false as const, problems: [syntaxProblem(one, text)] };
    if (result.ok) {
      print(`${JSON.stringify(inRecordedWords(simulate(result.simulation)))}\n`);
      continue;
    }
    code = EXIT.failed;
    say(
      result.problems.map((problem) => ({ file: name, ...(line > 0 ? { line } : {}), ...problem })),
      terminal,
    );
  }
  return code;
}

const syntaxProblem = (
  { column, message }: { readonly column: number; readonly message: string },
  text: string,
): Diagnostic =>
  text.trim() === ''
    ? {
        severity: 'error',
        code: 'simulation.bad-json',
        message: 'the file is empty',
        hint: 'Write one JSON object per line.',
      }
    : {
        severity: 'error',
        code: 'simulation.bad-json',
        message: `not valid JSON: ${message}`,
        hint: 'Check the JSON there: one object, a list, or one whole object on each line.',
        column,
      };

/**
 * A simulated run in the words of the reference executor, whose recorded results it is compared with
 * (test/data/scheduler).
 */
export function inRecordedWords({ why, ...run }: SimulationResult) {
  return {
    ...run,
    result: run.result !== 'failed' ? run.result : why === 'tolerance' ? 'stopped_by_tolerance' : 'failure',
    tasks: mapValues(run.tasks, recorded),
    nodes: mapValues(run.nodes, recorded),
    trace: run.trace.map(({ outcome, ...entry }) => ({
      ...entry,
      ...(outcome === undefined ? {} : { outcome: recorded(outcome) }),
    })),
  };
}

const WORDS: Readonly<Partial<Record<TaskStatus, string>>> = {
  success: 'successful',
  blocked: 'dep_failed',
  not_reached: 'skipped',
};
const recorded = (status: TaskStatus): string => WORDS[status] ?? status;

const mapValues = <T>(of: Readonly<Record<string, T>>, change: (value: T) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]));
