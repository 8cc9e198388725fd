import type { Answer } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { withNodeNames } from '../shell/node-names.ts';
import { printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { type ChosenGraphFlags, chosenGraphsOf, clusterOf, rolloutsOf, withChosenGraphs } from './run-request.ts';
import type { FollowFlags } from './started-run.ts';

interface ExecuteFlags extends ChosenGraphFlags, FollowFlags {
  readonly cluster?: string;
  readonly local?: boolean;
}

/** Adds `execute` to the `graph` command. */
export function registerGraphExecute(graph: CliCommand, session: Session): void {
  const execute = graph
    .verb('execute', 'Run graphs of a cluster on its nodes, one type after the other; or a file of tasks, here')
    .example('--cluster lab --watch', 'the graph default on all nodes')
    .example('--cluster lab --type health --node node-1 node-2')
    .example('--cluster lab --missed', 'tasks of a new version that no run has carried out yet')
    .example('--from 12', 'continue an ended run')
    .example('tasks.yaml --local', 'on this machine')
    .argument('[file]', 'with --local: tasks, as YAML or JSON; - is standard input')
    .ofCluster('cluster')
    .option('--local', 'run the tasks of the file on this machine, which is its agent meanwhile');
  withChosenGraphs(execute, 'default')
    .follows()
    .action((file: string | undefined, { cluster, ...flags }: ExecuteFlags) => {
      if (flags.local) return executeLocally(session, file, cluster, flags);
      if (file !== undefined) throw usageError('a file of tasks runs on this machine only', 'Add --local.');
      return clusterOf(session, cluster, flags.from, 'Give --cluster, or FILE and --local.').then((one) =>
        run(session, { ...flags, cluster: one }),
      );
    });
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
    import('./graph-to-upload.ts'),
    import('./local-cluster.ts'),
    import('../../graph/index.ts'),
    import('../../../worker/agents.ts'),
  ]);
  const graph = await readGraphToUpload(file, terminal);
  const tasks = readTasks(graph.tasks).tasks.map(({ task }) => task);
  const client = await session.client();
  const cluster = String(await storeLocally(client, graph, tasks));
  const [agent] = await client.call('GET /agents', { query: { cluster_id: cluster } });
  const { settings } = await session.settings();
  const start = () => run(session, { ...flags, cluster, ...(flags.wait ? {} : { watch: true }) });
  await withLocalAgent(terminal, settings, { site: agent!.site, node: agent!.node }, start);
}

async function run(session: Session, flags: ExecuteFlags & { readonly cluster: string }): Promise<void> {
  const body = {
    cluster: Number(flags.cluster),
    ...chosenGraphsOf(flags, ['default']),
    ...(await rolloutsOf(flags, session.terminal)),
  };
  await presentGraphRun(session, await session.call('POST /graphs/execute/', { body }), flags);
}

/** What the plan of a dry run depends on. */
interface PlannedRun {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly node?: readonly number[];
  readonly tasks?: readonly string[];
  readonly missed?: boolean;
}

/** What a dry run would do: the plan of each of its graphs, as `graph plan` shows it. */
async function printPlans(
  session: Session,
  { cluster, run }: Answer<'POST /graphs/execute/'>,
  { force, node, tasks, missed }: PlannedRun,
): Promise<void> {
  const client = await session.client();
  const { graphs, node_names } = await client.call('GET /runs/:run/counts', { params: { run: run! } });
  const { planText } = await import('../../graph/index.ts');
  for (const { type } of graphs) {
    const chosen = { nodes: node?.join(','), tasks: tasks?.join(','), missed: missed ? 1 : undefined };
    const query = { graph_type: type, ...chosen, force: force ? 1 : undefined };
    const plan = await client.call('GET /clusters/:id/plan/', {
      params: { id: cluster! },
      query: { ...query, format: 'json' },
    });
    session.foundChanges(plan.totals.running > 0);
    session.terminal.out(`\nplan of ${type}\n${planText(withNodeNames(plan, node_names))}`);
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
  const what =
    id === null
      ? `the run on ${session.textOf('cluster', cluster)} waits for a worker to open it`
      : `started run ${id} on ${session.textOf('cluster', cluster)}`;
  for (const { severity, message, hint } of started.warnings ?? [])
    terminal.err(`${severity}: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}\n`);
  const follows = flags.wait === true || flags.watch === true;
  const forPeople = flags.format === 'table' && !flags.column;
  if (!forPeople && !follows) return printOne(terminal, flags, started);
  // At once: it has started, whatever the next answer is.
  if (forPeople) terminal.out(`${what}\n`);
  const [run, { followAndPresent, nextSteps }] = await Promise.all([
    client.runs.get(started.run!),
    import('./started-run.ts'),
  ]);
  if (forPeople) {
    terminal.out(nextSteps(terminal, client, run));
    if (flags.dryRun) await printPlans(session, started, flags);
  }
  if (follows) process.exitCode = await followAndPresent(terminal, client, run, flags);
}
