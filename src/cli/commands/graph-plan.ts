import { given } from '../../core/data/given.ts';
import { idOfName, isId } from '../../core/names.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { nameListArgument } from '../shell/id-argument.ts';
import { idIn, namedThings } from '../shell/named-ids.ts';
import { type NodeNames, withNodeNames } from '../shell/node-names.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { planFile, say } from './graph-input.ts';

type PlanFormat = 'text' | 'json' | 'dot';

/** Adds `plan` to the `graph` command: what runs where, what does not, and why. Offline with `--input`. */
export function registerGraphPlan(graph: CliCommand, session: Session): void {
  graph
    .verb(
      'plan',
      'Plan a graph for nodes and show what runs, what is skipped and why, and what changed since the last run',
    )
    .example('--cluster lab --node node-1', 'as a run on node-1 started now')
    .example('--input plan.yaml --show node-1', 'offline')
    .option(
      '--input <file>',
      'tasks (or layers of them), cluster and old state as one JSON or YAML object; - reads standard input',
    )
    .forms(['text', 'json', 'dot'])
    .option('--show <id...>', 'with --cluster: show only these nodes of the whole plan; the sync node is null')
    .ofCluster('plan a stored graph for this cluster, like a run started now')
    .option('-t, --type <type>', 'type of the stored graph', 'default')
    .option('-T, --tasks <names...>', 'with --cluster: only these tasks would run', nameListArgument)
    .option('--missed', 'with --cluster: only tasks that have changed since they succeeded on a node')
    .nodes('only these nodes; with --cluster, as graph execute on them would', 'optional', nameListArgument)
    .action(async ({ input, cluster, type, tasks, node, missed, ...options }: PlanFlags) => {
      if ((input === undefined) === (cluster === undefined))
        throw usageError('nothing to plan', 'Give --input FILE, or --cluster ID.');
      if (cluster !== undefined)
        return planStored(session, { cluster, type, ...given({ tasks, node, missed }), ...options });
      const show = options.show ?? node;
      process.exitCode = await planToText(session, { input: input!, format: options.format, ...(show && { show }) });
    });
}

interface PlanFlags {
  readonly input?: string;
  readonly cluster?: string;
  readonly type: string;
  readonly tasks?: readonly string[];
  readonly node?: readonly string[];
  readonly missed?: boolean;
  readonly format: PlanFormat;
  readonly show?: readonly string[];
}

/** Prints the plan of a run of a stored graph started now, from the API. */
async function planStored(
  { client, terminal, foundChanges }: Session,
  { cluster, type, tasks, node, missed, format, show }: PlanFlags & { readonly cluster: string },
): Promise<void> {
  const asked = format === 'dot' ? 'dot' : 'json';
  const nodes = node && (await idsOf(await client(), node));
  const chosen = { nodes: nodes?.join(','), tasks: tasks?.join(','), missed: missed ? 1 : undefined };
  const query = { graph_type: type, ...chosen, format: asked };
  const ask = { params: { id: cluster }, query };
  if (format === 'dot') return terminal.out(await (await client()).text('GET /clusters/:id/plan/', ask));
  const plan = await (await client()).call('GET /clusters/:id/plan/', ask);
  foundChanges(plan.totals.running > 0);
  const only = show && (await plannedNodes(await client(), plan.nodes, show));
  const shown = only === undefined ? plan : { ...plan, nodes: plan.nodes.filter((one) => only.includes(one.node)) };
  if (format === 'json') return terminal.out(`${JSON.stringify(shown, null, 2)}\n`);
  const names = await namesOfAll(await client(), cluster);
  const { left_out, ...rest } = withNodeNames(shown, names);
  terminal.out((await import('../../graph/index.ts')).planText(rest));
  if (left_out.length > 0)
    terminal.out(`\nomitted nodes\n${left_out.map((one) => `  ${one.node}: ${one.reason}\n`).join('')}`);
  for (const { code, path, message, hint } of plan.warnings)
    terminal.err(
      `warning[${code}]: ${path === undefined ? '' : `${path}: `}${message}\n${hint === undefined ? '' : `  hint: ${hint}\n`}`,
    );
}

/** Names of a cluster's nodes by their ids. */
async function namesOfAll(client: ApiClient, cluster: string): Promise<NodeNames> {
  const nodes = await client.call('GET /nodes', { query: { cluster_id: cluster } }).catch(() => []);
  return Object.fromEntries(nodes.flatMap(({ id, name }) => (name ? [[String(id), name]] : [])));
}

/** The ids of nodes that are given by id or name. @throws CliError for a name that no node has */
async function idsOf(client: ApiClient, given: readonly string[]): Promise<readonly string[]> {
  if (given.every(isId)) return given;
  const known = await namedThings(client, 'node');
  return given.map((one) => (isId(one) ? one : String(idIn('node', one, known))));
}

/** The nodes to show, by their ids or names. @throws CliError for one that the plan does not have */
async function plannedNodes(
  client: ApiClient,
  planned: readonly { readonly node: string }[],
  given: readonly string[],
): Promise<readonly string[]> {
  const ids = planned.map(({ node }) => node);
  if (given.every((one) => ids.includes(one))) return given;
  const known = (await namedThings(client, 'node')).filter(({ id }) => ids.includes(String(id)));
  return given.map((one) => {
    if (ids.includes(one)) return one;
    const answer = idOfName('node', one, known);
    if (answer.ok) return String(answer.id);
    throw notPlanned(one, [...known.map(({ name }) => name), ...ids]);
  });
}

function notPlanned(node: string, known: readonly string[]): CliError {
  const shown = known.slice(0, 20).join(', ');
  const meant = isId(node) ? undefined : didYouMean(node, known);
  const hint = meant ?? (shown === '' ? 'The plan has no nodes.' : `It has ${shown}.`);
  return new CliError({ code: 'not-found', message: `the plan has no node '${node}'`, hint }, EXIT.notFound);
}

/** Exit code 0; that of invalid use when the input is refused, e.g. for a cycle of tasks. */
async function planToText(
  session: Session,
  options: { readonly input: string; readonly format: PlanFormat; readonly show?: readonly string[] },
): Promise<number> {
  const { terminal } = session;
  const { out: print } = terminal;
  const planned = await planFile(session, options.input);
  if (!planned.ok) return EXIT.invalid;
  const { cycleProblems, explainPlan, findCycles, placeInSource, planDot, planText } = await import(
    '../../graph/index.ts'
  );
  const { plan, input, problems, source } = planned;
  const cycles = placeInSource(cycleProblems(plan, findCycles(plan)), source);
  say([...problems, ...cycles], terminal, planned.sources);
  if (cycles.length > 0) return EXIT.invalid;
  const unknown = (options.show ?? []).find((node) => !plan.nodes.includes(node));
  if (unknown !== undefined) throw notPlanned(unknown, plan.nodes);
  if (options.format === 'dot') print(planDot(plan));
  else {
    const whole = explainPlan(plan, input);
    const shown =
      options.show === undefined
        ? whole
        : { ...whole, nodes: whole.nodes.filter(({ node }) => options.show?.includes(node)) };
    print(options.format === 'json' ? `${JSON.stringify(shown, null, 2)}\n` : planText(shown));
  }
  return EXIT.done;
}
