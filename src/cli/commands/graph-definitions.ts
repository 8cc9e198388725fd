import { type Command, Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { planFile, readGraphFile, say } from './graph-input.js';

type Print = (text: string) => void;

const GRAPH = 'a list of tasks, or an object with tasks or layers, as JSON or YAML; - reads standard input';
const out: Print = (text) => process.stdout.write(text);
const err: Print = (text) => process.stderr.write(text);

/** Adds `check`, `draw` and `diff` to the `graph` command: they need no nodes. Offline. */
export function registerGraphDefinitions(graph: Command): void {
  graph
    .command('check')
    .description('Check a graph, and its plan if the file has a cluster: every problem with its place and a next step')
    .requiredOption('--input <file>', GRAPH)
    .action(async ({ input }: { readonly input: string }) => {
      process.exitCode = await checkFile(input, out, err);
    });
  graph
    .command('draw')
    .description(
      'Draw a graph as a picture (svg), or for Graphviz (dot) or Mermaid; dependencies between nodes are dashed',
    )
    .requiredOption('--input <file>', GRAPH)
    .addOption(
      new Option('-f, --format <format>', 'svg is a picture, the others are languages of drawing')
        .choices(['dot', 'mermaid', 'svg'])
        .default('dot'),
    )
    .option('-T, --tasks <names...>', 'tasks that would run; the others are drawn as skipped')
    .option('--parents-for <task>', 'only this task and what comes directly before it')
    .option('--remove <types...>', 'leave out tasks of these types: group, stage, skipped')
    .action(async (options: DrawFlags) => {
      process.exitCode = await drawFile(options, out, err);
    });
  graph
    .command('diff')
    .description('Show which tasks and fields two graphs differ in')
    .requiredOption('--input <file>', `the newer graph: ${GRAPH}`)
    .requiredOption('--against <file>', 'the older graph')
    .addOption(new Option('-f, --format <format>', 'how to show it').choices(['text', 'json']).default('text'))
    .action(async (options: DiffFlags) => {
      process.exitCode = await diffFiles(options, out, err);
    });
}

/** Exit code 0, also with warnings; that of invalid use with errors. */
export async function checkFile(file: string, print: Print, complain: Print): Promise<number> {
  const graph = await readGraphFile(file, complain);
  if (!graph.ok) return EXIT.invalid;
  const hasCluster = typeof graph.value === 'object' && graph.value !== null && 'cluster' in graph.value;
  if (!hasCluster || file === '-') {
    say(graph.problems, complain);
    const errors = graph.problems.filter(({ severity }) => severity === 'error').length;
    if (errors === 0) print(`${graph.tasks.length} tasks: ok\n`);
    return errors === 0 ? EXIT.done : EXIT.invalid;
  }
  const planned = await planFile(file, complain);
  if (!planned.ok) return EXIT.invalid;
  const { cycleProblems, findCycles, placeInSource } = await import('../../graph/index.js');
  const cycles = placeInSource(cycleProblems(planned.plan, findCycles(planned.plan)), planned.source);
  say([...planned.problems, ...cycles], complain);
  if (cycles.length > 0) return EXIT.invalid;
  print(`${graph.tasks.length} tasks, planned as ${planned.plan.instances.length} on nodes: ok\n`);
  return EXIT.done;
}

interface DrawFlags {
  readonly input: string;
  readonly format: 'dot' | 'mermaid' | 'svg';
  readonly tasks?: readonly string[];
  readonly parentsFor?: string;
  readonly remove?: readonly string[];
}

export async function drawFile(
  { input, format, ...options }: DrawFlags,
  print: Print,
  complain: Print,
): Promise<number> {
  const graph = await readGraphFile(input, complain);
  if (!graph.ok) return EXIT.invalid;
  const { drawGraph, GraphProblemError } = await import('../../graph/index.js');
  try {
    const tasks = graph.tasks.map(({ task }) => task);
    const drawing = drawGraph(tasks, { ...options, format: format === 'mermaid' ? 'mermaid' : 'dot' });
    print(format === 'svg' ? await (await import('../../pictures/render-svg.js')).renderSvg(drawing) : drawing);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    complain(`error[${error.code}]: ${error.message}\n    ${error.hint ?? ''}\n`);
    return EXIT.invalid;
  }
}

interface DiffFlags {
  readonly input: string;
  readonly against: string;
  readonly format: 'text' | 'json';
}

export async function diffFiles(options: DiffFlags, print: Print, complain: Print): Promise<number> {
  const [before, after] = [
    await readGraphFile(options.against, complain),
    await readGraphFile(options.input, complain),
  ];
  if (!before.ok || !after.ok) return EXIT.invalid;
  const { diffGraphs, diffText } = await import('../../graph/index.js');
  const difference = diffGraphs(
    before.tasks.map(({ task }) => task),
    after.tasks.map(({ task }) => task),
  );
  print(options.format === 'json' ? `${JSON.stringify(difference, null, 2)}\n` : diffText(difference));
  return EXIT.done;
}
