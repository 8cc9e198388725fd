import { given } from '../../core/data/given.ts';
import { showTasks, watchRun } from '../../core/next-steps.ts';
import type { Answer } from '../client.ts';
import type { CliCommand } from '../command.ts';
import { type DescriptionFlags, descriptionOf } from '../described-run.ts';
import { findRun } from '../find-run.ts';
import { printOne } from '../formats/output.ts';
import { idArgument, nameListArgument, transactionArgument } from '../id-argument.ts';
import { usageError } from '../problem.ts';
import type { Session } from '../session.ts';
import type { FollowFlags } from '../started-run.ts';

/** Flags of every command that runs graphs. */
export interface GraphRunFlags extends FollowFlags {
  readonly dryRun?: boolean;
  readonly noop?: boolean;
  readonly force?: boolean;
  readonly trace?: boolean;
  readonly reason?: string;
}

interface ExecuteFlags extends GraphRunFlags, DescriptionFlags {
  readonly cluster?: string;
  readonly local?: boolean;
  readonly type?: readonly string[];
  readonly node?: readonly number[];
  readonly tasks?: readonly string[];
  readonly subgraphs?: readonly string[];
  readonly from?: string;
  readonly holdOnFailure?: boolean;
  readonly holdBefore?: readonly string[];
  readonly maxNodes?: number;
}

/** Adds `execute` to the `graph` command. */
export function registerGraphExecute(graph: CliCommand, session: Session): void {
  graph
    .verb('execute', 'Run graphs of a cluster on its nodes, one type after the other; or a file of tasks, here')
    .example('--cluster lab --watch', 'the graph default on all nodes')
    .example('--cluster lab --type health --node node-1 node-2')
    .example('--from 12', 'continue an ended run')
    .example('tasks.yaml --local', 'on this machine')
    .argument('[file]', 'with --local: tasks, as YAML or JSON; - is standard input')
    .ofCluster('cluster')
    .option('--local', 'run the tasks of the file on this machine, which is its agent meanwhile')
    .option('-t, --type <types...>', 'types of graphs, in order (default: default)')
    .nodes('only on these nodes')
    .option('-T, --tasks <names...>', 'only these tasks; the others keep their place in the order', nameListArgument)
    .option('-S, --subgraphs <parts...>', 'only these parts, each START[/NODES][:END[/NODES]], nodes such as 1,3-5')
    .option(
      '--from <transaction>',
      'continue this ended run: its failed tasks and everything after them',
      transactionArgument,
    )
    .graphRun()
    .option('--hold-on-failure', 'keep a run with failures open, for run retry-task and run skip-task')
    .holds('wait for approval before this task; *: before any change')
    .option('--max-nodes <number>', 'maximum number of busy nodes', (text) => Number(idArgument(text)))
    .startsRun()
    .action((file: string | undefined, { cluster, ...flags }: ExecuteFlags) => {
      if (flags.local) return executeLocally(session, file, cluster, flags);
      if (file !== undefined) throw usageError('a file of tasks runs on this machine only', 'Add --local.');
      return clusterOf(session, cluster, flags.from).then((one) => execute(session, { ...flags, cluster: one }));
    });
}

/** The cluster named, or that of the run to continue. */
async function clusterOf(session: Session, named: string | undefined, from: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  if (from === undefined) throw usageError('name the cluster', 'Give --cluster, or FILE and --local.');
  const { cluster } = await session.call('GET /transactions/:id', { params: { id: from } });
  if (cluster === null)
    throw usageError(`the cluster of run ${from} was deleted`, 'Start a run on another: give --cluster.');
  return String(cluster);
}

/** Runs the tasks of a file to completion, in the cluster `local`, with this process as its agent. */
async function executeLocally(
  session: Session,
  file: string | undefined,
  named: string | undefined,
  flags: Omit<ExecuteFlags, 'cluster'>,
): Promise<void> {
  if (file === undefined) throw usageError('name the file of tasks', 'sitewright graph execute FILE --local');
  if (named !== undefined || flags.type !== undefined || flags.node !== undefined)
    throw usageError('--local has a cluster, a graph and a node of its own', 'Omit --cluster, --type and --node.');
  const { terminal } = session;
  const [{ readGraphToUpload }, { storeLocally }, { readTasks }, { withLocalAgent }] = await Promise.all([
    import('../graph-to-upload.ts'),
    import('../local-cluster.ts'),
    import('../../graph/index.ts'),
    import('../../../worker/agents.ts'),
  ]);
  const graph = await readGraphToUpload(file, terminal);
  const tasks = readTasks(graph.tasks).tasks.map(({ task }) => task);
  const client = await session.client();
  const cluster = String(await storeLocally(client, graph, tasks));
  const [agent] = await client.call('GET /agents', { query: { cluster_id: cluster } });
  const { settings } = await session.settings();
  const run = () => execute(session, { ...flags, cluster, ...(flags.wait ? {} : { watch: true }) });
  await withLocalAgent(terminal, settings, { site: agent!.site, node: agent!.node }, run);
}

async function execute(session: Session, flags: ExecuteFlags & { readonly cluster: string }): Promise<void> {
  const { cluster, type = ['default'], node, tasks, from } = flags;
  if (from !== undefined && (flags.type !== undefined || node !== undefined || tasks !== undefined))
    throw usageError('--from takes graphs, nodes and tasks from the earlier run', 'Omit --type, --node and --tasks.');
  const graphs = type.map((one) => ({ type: one, ...(node && { nodes: node }), ...(tasks && { tasks }) }));
  const subgraphs = flags.subgraphs?.map(readSubgraph);
  const body = {
    cluster: Number(cluster),
    ...(from === undefined ? { graphs } : { from: Number(from) }),
    ...(subgraphs && { subgraphs }),
    ...runOptions(flags),
    ...descriptionOf(flags),
    ...(flags.holdOnFailure && { hold_on_failure: true }),
    ...given({ hold_before: flags.holdBefore, max_nodes: flags.maxNodes }),
  };
  await presentGraphRun(session, await session.call('POST /graphs/execute/', { body }), flags);
}

/** The common fields of requests that start a run of graphs. */
export function runOptions(flags: GraphRunFlags) {
  return {
    ...(flags.dryRun && { dry_run: true }),
    ...(flags.noop && { noop_run: true }),
    ...(flags.force && { force: true }),
    ...(flags.trace && { debug: true }),
    ...given({ reason: flags.reason }),
  };
}

/** What the plan of a dry run depends on. */
interface PlannedRun {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly node?: readonly number[];
  readonly tasks?: readonly string[];
}

/** What a dry run would do: the plan of each of its graphs, as `graph plan` shows it. */
async function printPlans(
  session: Session,
  { cluster, run }: Answer<'POST /graphs/execute/'>,
  { force, node, tasks }: PlannedRun,
): Promise<void> {
  const client = await session.client();
  const { graphs } = await client.call('GET /runs/:run/counts', { params: { run: run! } });
  const { planText } = await import('../../graph/index.ts');
  for (const { type } of graphs) {
    const query = { graph_type: type, nodes: node?.join(','), tasks: tasks?.join(','), force: force ? 1 : undefined };
    const plan = await client.call('GET /clusters/:id/plan/', {
      params: { id: cluster! },
      query: { ...query, format: 'json' },
    });
    session.foundChanges(plan.totals.running > 0);
    session.terminal.out(`\nplan of ${type}\n${planText(plan)}`);
  }
}

/** Prints the started run and next steps, and follows the run on request. */
export async function presentGraphRun(
  session: Session,
  started: Answer<'POST /graphs/execute/'>,
  flags: FollowFlags & PlannedRun,
): Promise<void> {
  const { terminal } = session;
  const client = await session.client();
  const { id } = started;
  // Only a cluster that was deleted since is null.
  const cluster = started.cluster!;
  const workflow = started.workflow_id!;
  const steps = [
    ...(id === null ? [['worker', 'sitewright worker'] as const] : []),
    ['watch it', watchRun(id ?? workflow)],
    ['page', `${client.url}/runs/${started.run!}`],
    ...(id === null ? [] : [['tasks', showTasks(id)]]),
    ['Temporal', `temporal workflow describe --workflow-id ${workflow}`],
  ] as const;
  const what =
    id === null
      ? `the run on ${session.textOf('cluster', cluster)} waits for a worker to open it`
      : `started run ${id} on ${session.textOf('cluster', cluster)}`;
  const text = `${what}\n${steps.map(([name, value]) => `  ${name.padEnd(8)}  ${value}\n`).join('')}`;
  for (const { severity, message, hint } of started.warnings ?? [])
    terminal.err(`${severity}: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}\n`);
  const follows = flags.wait === true || flags.watch === true;
  if (flags.format === 'table' && !flags.column) {
    terminal.out(text);
    if (flags.dryRun) await printPlans(session, started, flags);
  } else if (!follows) return printOne(terminal, flags, started);
  if (!follows) return;
  const run = await findRun(client, workflow);
  const { followAndPresent } = await import('../started-run.ts');
  process.exitCode = await followAndPresent(terminal, client, run, flags);
}

/** Parses `start[/nodes][:end[/nodes]]`, the form of Fuel's client. @throws CliError for other forms */
function readSubgraph(text: string): { readonly start?: readonly string[]; readonly end?: readonly string[] } {
  const parts = text.split(':');
  const wrong =
    parts.length > 2 || parts.some((part) => part !== '' && !/^[^/:\s]+(\/\d+(-\d+)?(,\d+(-\d+)?)*)?$/.test(part));
  const [start = '', end = ''] = parts;
  if (wrong || (start === '' && end === ''))
    throw usageError(
      `'${text}' is not a part of a graph`,
      'Write START[/NODES][:END[/NODES]], such as database/1,3-5:api.',
    );
  return { ...(start === '' ? {} : { start: [start] }), ...(end === '' ? {} : { end: [end] }) };
}
