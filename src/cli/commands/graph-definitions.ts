import { counted } from '../../core/text/text.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import type { Complaints, Terminal } from '../shell/terminal.ts';
import { planFile, type ReadGraph, readGraphFile, say } from './graph-input.ts';
import { type GraphOrigin, layerOption, originOptions, readGraphOf, readStoredGraph } from './stored-graph.ts';

type Print = (text: string) => void;

const GRAPH = 'a list of tasks, or an object with tasks or layers, as JSON or YAML; - reads standard input';

/** Adds `check`, `draw` and `diff` to the `graph` command: they need no nodes. Offline except for stored graphs. */
export function registerGraphDefinitions(graph: CliCommand, session: Session): void {
  const { out } = session.terminal;
  const check = graph
    .verb(
      'check',
      'Check a graph, and its plan if the file has a cluster: every problem with its place and a next step',
    )
    .example('tasks.yaml')
    .argument('[file]', 'the same as --input')
    .output()
    .action(async (file: string | undefined, { format, column, ...origin }: GraphOrigin & OutputFlags) => {
      const input = origin.input ?? file;
      const flags = { format, ...(column && { column }) };
      const graph =
        input !== undefined && origin.cluster === undefined
          ? await checkedFile(session, input)
          : await readGraphOf(session, { ...origin, ...(input && { input }) }, session.terminal);
      process.exitCode = await reportGraph(graph, flags, session.terminal);
    });
  originOptions(check, GRAPH);
  const draw = graph
    .verb(
      'draw',
      'Draw a graph as a picture (svg), or for Graphviz (dot) or Mermaid; dependencies between nodes are dashed',
    )
    .example('--input tasks.yaml')
    .forms(['dot', 'mermaid', 'svg'], 'svg is a picture, the others are drawing languages')
    .option('-T, --tasks <names...>', 'tasks that would run; the others are drawn as skipped')
    .option('--parents-for <task>', 'only this task and its direct predecessors')
    .option('--remove <types...>', 'omit tasks of these types: group, stage, skipped')
    .action(async (options: DrawFlags) => {
      process.exitCode = await drawOrigin(session, options, out, session.terminal);
    });
  originOptions(draw, GRAPH);
  graph
    .verb('diff', 'Show which tasks and fields two graphs differ in: two files, or a file and the stored graph')
    .example('--input tasks.yaml --cluster lab')
    .requiredOption('--input <file>', `the newer graph: ${GRAPH}`)
    .option('--against <file>', 'the older graph')
    .ofCluster('the older graph is the stored one of this cluster')
    .option('-t, --type <type>', 'type of the stored graph (default: default)')
    .addOption(layerOption())
    .forms(['text', 'json'])
    .action(async (options: DiffFlags) => {
      process.exitCode = await diffFiles(session, options, out, session.terminal);
    });
}

/** A graph from a file, and the problems of its plan, if the file has a cluster. */
async function checkedFile(session: Session, file: string): Promise<ReadGraph> {
  const { terminal } = session;
  const graph = await readGraphFile(file, terminal);
  if (!graph.ok) return graph;
  const hasCluster = typeof graph.value === 'object' && graph.value !== null && 'cluster' in graph.value;
  if (!hasCluster || file === '-') return graph;
  const planned = await planFile(session, file);
  if (!planned.ok) return { ok: false, problems: planned.problems };
  const { cycleProblems, findCycles, placeInSource } = await import('../../graph/index.ts');
  const cycles = placeInSource(cycleProblems(planned.plan, findCycles(planned.plan)), planned.source);
  const instances = planned.plan.instances.length;
  return { ...graph, problems: [...planned.problems, ...cycles], sources: planned.sources, instances };
}

/** Exit code 0, even with warnings; that of invalid use with errors. */
async function reportGraph(graph: ReadGraph, flags: OutputFlags, terminal: Terminal): Promise<number> {
  if (graph.ok) say(graph.problems, terminal, graph.sources);
  const valid = graph.ok && graph.problems.every(({ severity }) => severity !== 'error');
  const tasks = graph.ok ? graph.tasks.length : 0;
  const planned = graph.ok && graph.instances !== undefined ? `, planned as ${graph.instances} on nodes` : '';
  const text = valid ? `${counted(tasks, 'task')}${planned}: ok\n` : '';
  await printOne(terminal, flags, { valid, tasks, problems: graph.problems }, text);
  return valid ? EXIT.done : EXIT.invalid;
}

interface DrawFlags extends GraphOrigin {
  readonly format: 'dot' | 'mermaid' | 'svg';
  readonly tasks?: readonly string[];
  readonly parentsFor?: string;
  readonly remove?: readonly string[];
}

async function drawOrigin(
  session: Session,
  { input, cluster, type, layer, format, ...options }: DrawFlags,
  print: Print,
  terminal: Complaints,
): Promise<number> {
  const origin = {
    ...(input && { input }),
    ...(cluster && { cluster }),
    ...(type && { type }),
    ...(layer && { layer }),
  };
  const graph = await readGraphOf(session, origin, terminal);
  if (!graph.ok) return EXIT.invalid;
  const { drawGraph, GraphProblemError } = await import('../../graph/index.ts');
  try {
    const tasks = graph.tasks.map(({ task }) => task);
    const drawing = drawGraph(tasks, { ...options, format: format === 'mermaid' ? 'mermaid' : 'dot' });
    print(format === 'svg' ? await (await import('../../graph/pictures/render-svg.ts')).renderSvg(drawing) : drawing);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    terminal.err(`error[${error.code}]: ${error.message}\n    ${error.hint ?? ''}\n`);
    return EXIT.invalid;
  }
}

interface DiffFlags extends GraphOrigin {
  readonly input: string;
  readonly against?: string;
  readonly format: 'text' | 'json';
}

async function diffFiles(session: Session, options: DiffFlags, print: Print, terminal: Complaints): Promise<number> {
  const { against, cluster } = options;
  if ((against === undefined) === (cluster === undefined))
    throw usageError('name the older graph', 'Give --against FILE, or --cluster ID.');
  const before =
    against === undefined
      ? await readStoredGraph(session, { ...options, cluster: cluster! }, terminal)
      : await readGraphFile(against, terminal);
  const after = await readGraphFile(options.input, terminal);
  if (!before.ok || !after.ok) return EXIT.invalid;
  const { diffGraphs, diffText } = await import('../../graph/index.ts');
  const difference = diffGraphs(
    before.tasks.map(({ task }) => task),
    after.tasks.map(({ task }) => task),
  );
  print(options.format === 'json' ? `${JSON.stringify(difference, null, 2)}\n` : diffText(difference));
  return EXIT.done;
}
