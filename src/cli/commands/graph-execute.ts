import { graphWorkflowId } from '../../../workflows/protocol.js';
import type { Answer } from '../client.js';
import type { CliCommand } from '../command.js';
import { type DescriptionFlags, descriptionOf } from '../described-run.js';
import { findRun } from '../find-run.js';
import { printOne } from '../formats/output.js';
import { idArgument, idListArgument, nameListArgument } from '../id-argument.js';
import { usageError } from '../problem.js';
import type { Session } from '../session.js';
import type { FollowFlags } from '../started-run.js';

/** Flags of every command that runs graphs. */
export interface GraphRunFlags extends FollowFlags {
  readonly dryRun?: boolean;
  readonly noop?: boolean;
  readonly force?: boolean;
  readonly trace?: boolean;
  readonly reason?: string;
}

interface ExecuteFlags extends GraphRunFlags, DescriptionFlags {
  readonly env: string;
  readonly type?: readonly string[];
  readonly node?: readonly number[];
  readonly tasks?: readonly string[];
  readonly subgraphs?: readonly string[];
  readonly from?: string;
  readonly holdOnFailure?: boolean;
  readonly maxNodes?: number;
}

/** Adds `execute` to the `graph` command. */
export function registerGraphExecute(graph: CliCommand, session: Session): void {
  graph
    .verb('execute', 'Run graphs of a cluster on its nodes, one type after the other')
    .requiredOption('-e, --env <id>', 'id of the cluster', idArgument)
    .option('-t, --type <types...>', 'types of graphs, in order (default: default)')
    .option('-n, --node <ids...>', 'only on these nodes', idListArgument)
    .option('-T, --tasks <names...>', 'only these tasks; the others keep their place in the order', nameListArgument)
    .option('-S, --subgraphs <parts...>', 'only these parts, each START[/NODES][:END[/NODES]], nodes such as 1,3-5')
    .option('--from <transaction>', 'continue this ended run: what failed in it and everything after that', idArgument)
    .graphRun()
    .option('--hold-on-failure', 'keep a run with failures open, for run retry-task and run skip-task')
    .option('--max-nodes <number>', 'maximum number of busy nodes', (text) => Number(idArgument(text)))
    .startsRun()
    .action((flags: ExecuteFlags) => execute(session, flags));
}

async function execute(session: Session, flags: ExecuteFlags): Promise<void> {
  const { env, type = ['default'], node, tasks, from } = flags;
  if (from !== undefined && (flags.type !== undefined || node !== undefined || tasks !== undefined))
    throw usageError('--from takes graphs, nodes and tasks from the earlier run', 'Omit --type, --node and --tasks.');
  const graphs = type.map((one) => ({ type: one, ...(node && { nodes: node }), ...(tasks && { tasks }) }));
  const subgraphs = flags.subgraphs?.map(readSubgraph);
  const body = {
    cluster: Number(env),
    ...(from === undefined ? { graphs } : { from: Number(from) }),
    ...(subgraphs && { subgraphs }),
    ...runOptions(flags),
    ...descriptionOf(flags),
    ...(flags.holdOnFailure && { hold_on_failure: true }),
    ...(flags.maxNodes === undefined ? {} : { max_nodes: flags.maxNodes }),
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
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  };
}

/** Prints what was started and next steps, and follows the run on request. */
export async function presentGraphRun(
  session: Session,
  started: Answer<'POST /graphs/execute/'>,
  flags: FollowFlags,
): Promise<void> {
  const { terminal } = session;
  const client = await session.client();
  const { id } = started;
  // Only a cluster that was deleted since is null.
  const cluster = started.cluster!;
  const workflow = graphWorkflowId(cluster, id);
  const steps = [
    ['watch it', `sitewright run watch ${workflow}`],
    ['page', started.run ? `${client.url}/runs/${started.run}` : `${client.url}/clusters/${cluster}`],
    ['tasks', `sitewright history show ${id}`],
    ['Temporal', `temporal workflow describe --workflow-id ${workflow}`],
  ] as const;
  const text = `started run ${id} on cluster ${cluster}\n${steps
    .map(([name, value]) => `  ${name.padEnd(8)}  ${value}\n`)
    .join('')}`;
  for (const { severity, message, hint } of started.warnings ?? [])
    terminal.err(`${severity}: ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}\n`);
  const follows = flags.wait === true || flags.watch === true;
  if (flags.format === 'table' && !flags.column) terminal.out(text);
  else if (!follows) return printOne(terminal, flags, started);
  if (!follows) return;
  const run = await findRun(client, workflow);
  const { followAndPresent } = await import('../started-run.js');
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
