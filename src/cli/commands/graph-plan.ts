import { type Command, Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { planFile, say } from './graph-input.js';

export type PlanFormat = 'text' | 'json' | 'dot';

/** Adds `plan --input FILE` to the `graph` command: what runs where, what does not, and why. Offline. */
export function registerGraphPlan(graph: Command): void {
  graph
    .command('plan')
    .description(
      'Plan a graph for nodes and show what runs, what is skipped and why, and what is new against the last run',
    )
    .requiredOption(
      '--input <file>',
      'tasks (or layers of them), cluster and old state as one JSON or YAML object; - reads standard input',
    )
    .addOption(new Option('-f, --format <format>', 'how to show it').choices(['text', 'json', 'dot']).default('text'))
    .option('--node <id...>', 'show only these nodes; the sync node is null')
    .action(
      async (options: { readonly input: string; readonly format: PlanFormat; readonly node?: readonly string[] }) => {
        process.exitCode = await planToText(
          options,
          (text) => process.stdout.write(text),
          (text) => process.stderr.write(text),
        );
      },
    );
}

/** Exit code 0; that of invalid use when the input is refused, tasks that wait for each other included. */
export async function planToText(
  options: { readonly input: string; readonly format: PlanFormat; readonly node?: readonly string[] },
  print: (text: string) => void,
  complain: (text: string) => void,
): Promise<number> {
  const planned = await planFile(options.input, complain);
  if (!planned.ok) return EXIT.invalid;
  const { cycleProblems, explainPlan, findCycles, placeInSource, planDot, planText } = await import(
    '../../graph/index.js'
  );
  const { plan, input, problems, source } = planned;
  const cycles = placeInSource(cycleProblems(plan, findCycles(plan)), source);
  say([...problems, ...cycles], complain);
  if (cycles.length > 0) return EXIT.invalid;
  const unknown = (options.node ?? []).filter((node) => !plan.nodes.includes(node));
  if (unknown.length > 0) {
    complain(`error: no node ${unknown.join(', ')}; there are ${plan.nodes.slice(0, 20).join(', ')}\n`);
    return EXIT.invalid;
  }
  if (options.format === 'dot') print(planDot(plan));
  else {
    const whole = explainPlan(plan, input);
    const shown =
      options.node === undefined
        ? whole
        : { ...whole, nodes: whole.nodes.filter(({ node }) => options.node?.includes(node)) };
    print(options.format === 'json' ? `${JSON.stringify(shown, null, 2)}\n` : planText(shown));
  }
  return EXIT.done;
}
