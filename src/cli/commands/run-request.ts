import type { ClusterRehearsalBody } from '../../core/contracts/rehearsals.ts';
import type { StartRunBody } from '../../core/contracts/runs.ts';
import { given } from '../../core/data/given.ts';
import type { CliCommand } from '../shell/command.ts';
import { readDataFile } from '../shell/data-file.ts';
import { idArgument, nameListArgument, transactionArgument } from '../shell/id-argument.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import type { Terminal } from '../shell/terminal.ts';
import { type DescriptionFlags, descriptionOf } from './described-run.ts';

// What a run is asked to do: the options of the commands that start it, and of those that rehearse it.

/** Options of runs of graphs, whatever chooses their graphs. */
export interface GraphRunFlags {
  readonly dryRun?: boolean;
  readonly noop?: boolean;
  readonly force?: boolean;
  readonly trace?: boolean;
  readonly rollouts?: string;
  readonly overrideLimits?: string;
  readonly reason?: string;
}

/** Options that choose graphs, and how they are run. */
export interface ChosenGraphFlags extends GraphRunFlags, DescriptionFlags {
  readonly type?: readonly string[];
  readonly node?: readonly number[];
  readonly tasks?: readonly string[];
  readonly missed?: boolean;
  readonly subgraphs?: readonly string[];
  readonly from?: string;
  readonly holdOnFailure?: boolean;
  readonly holdBefore?: readonly string[];
  readonly maxNodes?: number;
}

/** @param usual the graphs of a run that names none */
export const withChosenGraphs = (command: CliCommand, usual: string): CliCommand =>
  command
    .option('-t, --type <types...>', `types of graphs, in order (default: ${usual})`)
    .nodes('only on these nodes')
    .option('-T, --tasks <names...>', 'only these tasks; the others keep their place in the order', nameListArgument)
    .option('--missed', 'only tasks that have changed since they succeeded on a node, and did not run there')
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
    .reason()
    .describesRun();

/** The request, without its cluster. `usual`: the types of a run that names none. @throws CliError for options that exclude each other */
export function chosenGraphsOf(flags: ChosenGraphFlags, usual?: readonly string[]) {
  const { node, tasks, from, missed } = flags;
  if (from !== undefined && [flags.type, node, tasks, missed].some((one) => one !== undefined))
    throw usageError(
      '--from takes graphs, nodes and tasks from the earlier run',
      'Omit --type, --node, --tasks and --missed.',
    );
  const isPart = [node, tasks, missed].some((one) => one !== undefined);
  const type = flags.type ?? usual ?? (isPart ? ['default'] : undefined);
  const graphs = type?.map((one) => ({
    type: one,
    ...(node && { nodes: [...node] }),
    ...(tasks && { tasks: [...tasks] }),
    ...(missed && { missed }),
  }));
  const subgraphs = flags.subgraphs?.map(readSubgraph);
  return {
    ...(from === undefined ? given({ graphs }) : { from: Number(from) }),
    ...(subgraphs && { subgraphs }),
    ...runOptions(flags),
    ...descriptionOf(flags),
    ...(flags.holdOnFailure && { hold_on_failure: true }),
    ...given({ hold_before: flags.holdBefore && [...flags.holdBefore], max_nodes: flags.maxNodes }),
  } satisfies ClusterRehearsalBody;
}

/** The cluster named, or that of the run to continue. @throws CliError where there is neither, with the hint */
export async function clusterOf(
  session: Session,
  named: string | undefined,
  from: string | undefined,
  hint: string,
): Promise<string> {
  if (named !== undefined) return named;
  if (from === undefined) throw usageError('name the cluster', hint);
  const { cluster } = await session.call('GET /transactions/:id', { params: { id: from } });
  if (cluster === null)
    throw usageError(`the cluster of run ${from} was deleted`, 'Start a run on another: give --cluster.');
  return String(cluster);
}

/** The rollouts of a file, for `runOptions`' request. @throws CliError for a file that cannot be read */
export const rolloutsOf = async (
  { rollouts: file }: GraphRunFlags,
  terminal: Terminal,
): Promise<{ rollouts?: never }> =>
  file === undefined ? {} : { rollouts: (await readDataFile(file, terminal)) as never };

/** The common fields of requests that start a run of graphs. */
export function runOptions(flags: GraphRunFlags) {
  return {
    ...(flags.dryRun && { dry_run: true }),
    ...(flags.noop && { noop_run: true }),
    ...(flags.force && { force: true }),
    ...(flags.trace && { debug: true }),
    ...given({ override_limits: flags.overrideLimits, reason: flags.reason }),
  };
}

/** Parses `start[/nodes][:end[/nodes]]`, the form of Fuel's client. @throws CliError for other forms */
function readSubgraph(text: string): { start?: string[]; end?: string[] } {
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

/** Options of a run on a site. */
export interface SiteRunFlags extends DescriptionFlags {
  readonly revision?: string;
  readonly reason?: string;
  readonly erase?: boolean;
  readonly releaseRemoved?: boolean;
  readonly holdBefore?: readonly string[];
  readonly fetch?: boolean;
  readonly adopt?: readonly string[];
  readonly overrideLimits?: string;
}

type Kind = StartRunBody['kind'];

/** What else a run of a site may be told, by its kind. */
const OF_KIND = {
  '--adopt': ['deploy_site'],
  '--override-limits': ['deploy_site', 'update_site', 'redeploy_nodes'],
  '--hold-before': ['deploy_site', 'update_site', 'redeploy_nodes'],
  '--release-removed': ['update_site'],
  '--erase': ['redeploy_nodes'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;

/** All options that one of these kinds has. */
export function withSiteRun(command: CliCommand, kinds: readonly Kind[]): CliCommand {
  const has = (option: keyof typeof OF_KIND): boolean => OF_KIND[option].some((kind) => kinds.includes(kind));
  command
    .option('--revision <revision>', 'number, hash, latest or last-good (default: the latest)')
    .reason()
    .describesRun();
  if (has('--hold-before'))
    command.holds(
      kinds.every((kind) => kind === 'redeploy_nodes')
        ? '*: wait for approval before the nodes are released'
        : 'wait for approval before this group; *: before any change',
    );
  if (has('--release-removed'))
    command.option('--release-removed', 'also release the machines of nodes removed from the documents');
  if (has('--adopt'))
    command.option(
      '--adopt <nodes...>',
      'take over the machines of these nodes as they are, though something else deployed them with the MAAS user of Sitewright',
    );
  if (has('--override-limits')) command.overridesLimits();
  if (has('--erase')) command.option('--erase', 'also erase their disks');
  return command;
}

/** The request. */
export const siteRunOf = (kind: Kind, nodes: readonly string[] | undefined, flags: SiteRunFlags): StartRunBody => ({
  kind,
  ...given({ revision: flags.revision, reason: flags.reason }),
  ...descriptionOf(flags),
  ...(nodes === undefined ? {} : { nodes: [...new Set(nodes)] }),
  ...(flags.fetch ? { fetch: true } : {}),
  ...(flags.erase ? { erase: true } : {}),
  ...given({ hold_before: flags.holdBefore && [...flags.holdBefore] }),
  ...(flags.releaseRemoved ? { release_removed: true } : {}),
  ...given({ adopt: flags.adopt && [...new Set(flags.adopt)], override_limits: flags.overrideLimits }),
});
