import type { Diagnostic } from '../../core/diagnostic.js';
import type { CliCommand } from '../command.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { readStandardInput } from '../read-input.js';
import type { Session } from '../session.js';

/** Adds `simulate --input FILE` to the `graph` command. Offline: it reads a file and calls the scheduler. */
export function registerGraphSimulate(graph: CliCommand, session: Session): void {
  graph
    .command('simulate')
    .description('Run plans through the scheduler with instant tasks and print the result, one line of JSON each')
    .requiredOption(
      '--input <file>',
      'plans to simulate, as one JSON object, a list, or JSON Lines; - reads standard input',
    )
    .action(async (options: { readonly input: string }) => {
      process.exitCode = await simulateFile(options.input, session.terminal.out, session.terminal.err);
    });
}

/**
 * Prints a line for each readable input, and the problems of the others with their places.
 * Returns the exit code: 0, or 1 when any input could not be read. A refused run is a result, not a problem.
 */
export async function simulateFile(
  file: string,
  print: (text: string) => void,
  complain: (text: string) => void,
): Promise<number> {
  const [{ readFile }, { simulate }, { readSimulation }] = await Promise.all([
    import('node:fs/promises'),
    import('../../core/scheduler/simulate.js'),
    import('../../core/scheduler/simulation-input.js'),
  ]);
  const name = file === '-' ? 'standard input' : file;
  let text: string;
  try {
    text = file === '-' ? await readStandardInput() : await readFile(file, 'utf8');
  } catch (error) {
    const hint = 'Name a readable file, or - for standard input.';
    complain(
      line({ severity: 'error', code: 'simulation.unreadable', message: (error as Error).message, hint, file: name }),
    );
    return EXIT.failed;
  }
  let code: ExitCode = EXIT.done;
  for (const item of parse(text.replace(/^\uFEFF/, ''))) {
    const read = 'problem' in item ? { ok: false as const, problems: [item.problem] } : readSimulation(item.value);
    if (read.ok) {
      print(`${JSON.stringify(simulate(read.simulation))}\n`);
      continue;
    }
    code = EXIT.failed;
    for (const problem of read.problems)
      complain(line({ file: name, ...(item.line > 0 ? { line: item.line } : {}), ...problem }));
  }
  return code;
}

type Item = { readonly line: number } & ({ readonly value: unknown } | { readonly problem: Diagnostic });

/** Parses one JSON value of several lines, or one value per line. */
function parse(text: string): Item[] {
  try {
    const value: unknown = JSON.parse(text);
    const values = Array.isArray(value) ? value : [value];
    return values.map((one) => ({ line: Array.isArray(value) ? 0 : 1, value: one }));
  } catch (whole) {
    const lines = text.split('\n').map((content, at) => ({ content: content.trim(), line: at + 1 }));
    const filled = lines.filter(({ content }) => content !== '');
    if (filled.length === 0)
      return [{ line: 1, problem: syntaxProblem('the file is empty', 'Write one JSON object per line.') }];
    const items = filled.map(({ content, line: at }): Item => {
      try {
        return { line: at, value: JSON.parse(content) as unknown };
      } catch (error) {
        return {
          line: at,
          problem: syntaxProblem((error as Error).message, 'Each line must be one whole JSON object.', content),
        };
      }
    });
    // If no line is JSON, treat the file as one value and report its error.
    if (items.some((item) => 'value' in item)) return items;
    return [
      {
        line: 0,
        problem: {
          ...syntaxProblem((whole as Error).message, 'Check the JSON there.'),
          ...placeOf(whole as Error, text),
        },
      },
    ];
  }
}

const syntaxProblem = (message: string, hint: string, text?: string): Diagnostic => ({
  severity: 'error',
  code: 'simulation.bad-json',
  message,
  hint,
  ...(text === undefined ? {} : { text: text.slice(0, 200) }),
});

/** The engine's message has an offset; people need line and column. */
function placeOf(error: Error, text: string): { line?: number; column?: number } {
  const offset = /position (\d+)/.exec(error.message)?.[1];
  if (offset === undefined) return {};
  const before = text.slice(0, Number(offset)).split('\n');
  return { line: before.length, column: [...before[before.length - 1]!].length + 1 };
}

function line(problem: Diagnostic): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
  return `${place}: ${problem.severity}: ${problem.message}${problem.hint === undefined ? '' : `\n  ${problem.hint}`}\n`;
}
