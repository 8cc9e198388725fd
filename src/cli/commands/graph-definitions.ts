import { counted } from '../../core/counted.js';
import type { CliCommand } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { idArgument } from '../id-argument.js';
import { usageError } from '../problem.js';
import type { Session } from '../session.js';
import type { Complaints } from '../terminal.js';
import { planFile, type ReadGraph, readGraphFile, say } from './graph-input.js';
import { type GraphOrigin, layerOption, originOptions, readGraphOf, readStoredGraph } from './stored-graph.js';

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
    .action(async (origin: GraphOrigin) => {
      const { input, env } = origin;
      const isFile = input !== undefined && env === undefined;
      process.exitCode = isFile
        ? await checkFile(session, input)
        : await checkStored(session, origin, out, session.terminal);
    });
  originOptions(check, GRAPH);
  const draw = graph
    .verb(
      'draw',
      'Draw a graph as a picture (svg), or for Graphviz (dot) or Mermaid; dependencies between nodes are dashed',
    )
    .forms(['dot', 'mermaid', 'svg'], 'svg is a picture, the others are drawing languages')
    .option('-T, --tasks <names...>', 'tasks that would run; the others are drawn as skipped')
    .option('--parents-for <task>', 'only this task and its direct predecessors')
    .option('--remove <types...>', 'omit tasks of these types: group, stage, skipped')
    .action(async (options: DrawFlags) => {
      process.exitCode = await drawOrigin(session, options, out, session.terminal);
    });
  originOptions(draw, GRAPH);
  graph
    .verb('diff', 'Show which tasks and fields two graphs differ in: two files, or a file and what is stored')
    .requiredOption('--input <file>', `the newer graph: ${GRAPH}`)
    .option('--against <file>', 'the older graph')
    .option('-e, --env <id>', 'the older graph is the stored one of this cluster', idArgument)
    .option('-t, --type <type>', 'of the stored graph: its type (default: default)')
    .addOption(layerOption())
    .forms(['text', 'json'])
    .action(async (options: DiffFlags) => {
      process.exitCode = await diffFiles(session, options, out, session.terminal);
    });
}

/** Exit code 0, even with warnings; that of invalid use with errors. */
async function checkFile(session: Session, file: string): Promise<number> {
  const { terminal } = session;
  const { out: print } = terminal;
  const graph = await readGraphFile(file, terminal);
  if (!graph.ok) return EXIT.invalid;
  const hasCluster = typeof graph.value === 'object' && graph.value !== null && 'cluster' in graph.value;
  if (!hasCluster || file === '-') {
    return reportGraph(graph, print, terminal);
  }
  const planned = await planFile(session, file);
  if (!planned.ok) return EXIT.invalid;
  const { cycleProblems, findCycles, placeInSource } = await import('../../graph/index.js');
  const cycles = placeInSource(cycleProblems(planned.plan, findCycles(planned.plan)), planned.source);
  say([...planned.problems, ...cycles], terminal, planned.sources);
  if (cycles.length > 0) return EXIT.invalid;
  print(`${counted(graph.tasks.length, 'task')}, planned as ${planned.plan.instances.length} on nodes: ok\n`);
  return EXIT.done;
}

/** Reports the problems of a readable graph. */
function reportGraph(graph: Extract<ReadGraph, { ok: true }>, print: Print, terminal: Complaints): number {
  say(graph.problems, terminal, graph.sources);
  const errors = graph.problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) print(`${counted(graph.tasks.length, 'task')}: ok\n`);
  return errors === 0 ? EXIT.done : EXIT.invalid;
}

async function checkStored(session: Session, origin: GraphOrigin, print: Print, terminal: Complaints): Promise<number> {
  const graph = await readGraphOf(session, origin, terminal);
  return graph.ok ? reportGraph(graph, print, terminal) : EXIT.invalid;
}

interface DrawFlags extends GraphOrigin {
  readonly format: 'dot' | 'mermaid' | 'svg';
  readonly tasks?: readonly string[];
  readonly parentsFor?: string;
  readonly remove?: readonly string[];
}

async function drawOrigin(
  session: Session,
  { input, env, type, layer, format, ...options }: DrawFlags,
  print: Print,
  terminal: Complaints,
): Promise<number> {
  const origin = { ...(input && { input }), ...(env && { env }), ...(type && { type }), ...(layer && { layer }) };
  const graph = await readGraphOf(session, origin, terminal);
  if (!graph.ok) return EXIT.invalid;
  const { drawGraph, GraphProblemError } = await import('../../graph/index.js');
  try {
    const tasks = graph.tasks.map(({ task }) => task);
    const drawing = drawGraph(tasks, { ...options, format: format === 'mermaid' ? 'mermaid' : 'dot' });
    print(format === 'svg' ? await (await import('../../graph/pictures/render-svg.js')).renderSvg(drawing) : drawing);
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
  const { against, env } = options;
  if ((against === undefined) === (env === undefined))
    throw usageError('name the older graph', 'Give --against FILE, or --env ID of a cluster.');
  const before =
    against === undefined
      ? await readStoredGraph(session, { ...options, env: env! }, terminal)
      : await readGraphFile(against, terminal);
  const after = await readGraphFile(options.input, terminal);
  if (!before.ok || !after.ok) return EXIT.invalid;
  const { diffGraphs, diffText } = await import('../../graph/index.js');
  const difference = diffGraphs(
    before.tasks.map(({ task }) => task),
    after.tasks.map(({ task }) => task),
  );
  print(options.format === 'json' ? `${JSON.stringify(difference, null, 2)}\n` : diffText(difference));
  return EXIT.done;
}
