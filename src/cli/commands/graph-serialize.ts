import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import type { Session } from '../shell/session.ts';
import { planFile, say } from './graph-input.ts';

/** Adds `serialize --input FILE [--digest]` to the `graph` command. Offline: it reads a file and calls the planner. */
export function registerGraphSerialize(graph: CliCommand, session: Session): void {
  graph
    .verb(
      'serialize',
      'Plan a graph for nodes and print the result for executors: tasks by node with dependencies, as JSON',
    )
    .example('--input plan.yaml --digest')
    .requiredOption(
      '--input <file>',
      'tasks (or layers of them), cluster and old state as one JSON or YAML object; - reads standard input',
    )
    .option('--digest', 'print counts and hashes by node instead of the whole result')
    .action(async (options: { readonly input: string; readonly digest?: boolean }) => {
      process.exitCode = await serializeFile(session, options.input, options.digest === true);
    });
}

/**
 * Prints the result of one file, a node at a time. Exit code 0; that of invalid use when the input is refused or
 * cannot be read; problems with their places go to the other stream.
 */
async function serializeFile(session: Session, file: string, digest: boolean): Promise<number> {
  const { terminal } = session;
  const { outAll: print } = terminal;
  const planned = await planFile(session, file);
  if (!planned.ok) return EXIT.invalid;
  const { plan, problems } = planned;
  const { cycleProblems, digestOf, findCycles, placeInSource, serializedText } = await import('../../graph/index.ts');
  const cycles = placeInSource(cycleProblems(plan, findCycles(plan)), planned.source);
  // Executors detect cycles themselves, so print the result anyway.
  say(
    [...problems, ...cycles.map((problem) => ({ ...problem, severity: 'warning' as const }))],
    terminal,
    planned.sources,
  );
  if (digest) await print(`${JSON.stringify(digestOf(plan), null, 2)}\n`);
  // The result of a thousand nodes is 200 MB of text.
  else for (const text of serializedText(plan)) await print(text);
  return EXIT.done;
}
