import { idOfName, isId } from '../../core/names.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { ApiClient } from '../client.ts';
import type { CliCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { clusterArgument, nameListArgument, nodeListArgument } from '../id-argument.ts';
import { namedThings } from '../named-ids.ts';
import { CliError, usageError } from '../problem.ts';
import type { Session } from '../session.ts';
import { planFile, say } from './graph-input.ts';

type PlanFormat = 'text' | 'json' | 'dot';

/** Adds `plan` to the `graph` command: what runs where, what does not, and why. Offline with `--input`. */
export function registerGraphPlan(graph: CliCommand, session: Session): void {
  graph
    .verb(
      'plan',
      'Plan a graph for nodes and show what runs, what is skipped and why, and what changed since the last run',
    )
    .option(
      '--input <file>',
      'tasks (or layers of them), cluster and old state as one JSON or YAML object; - reads standard input',
    )
    .forms(['text', 'json', 'dot'])
    .option('--node <id...>', 'show only these nodes; the sync node is null')
    .option('-e, --env <id>', 'plan a stored graph for this cluster, like a run started now', clusterArgument)
    .option('-t, --type <type>', 'type of the stored graph', 'default')
    .option('-T, --tasks <names...>', 'with --env: only these tasks would run', nameListArgument)
    .option('-n, --on <ids...>', 'with --env: for a run only on these nodes, like execute --node', nodeListArgument)
    .action(async ({ input, env, type, tasks, on, ...options }: PlanFlags) => {
      if ((input === undefined) === (env === undefined))
        throw usageError('nothing to plan', 'Give --input FILE, or --env ID of a cluster.');
      if (env !== undefined)
        return planStored(session, { env, type, ...(tasks && { tasks }), ...(on && { on }), ...options });
      process.exitCode = await planToText(session, { input: input!, ...options });
    });
}

interface PlanFlags {
  readonly input?: string;
  readonly env?: string;
  readonly type: string;
  readonly tasks?: readonly string[];
  readonly on?: readonly number[];
  readonly format: PlanFormat;
  readonly node?: readonly string[];
}

/** Prints the plan of a run of a stored graph started now, from the API. */
async function planStored(
  { client, terminal }: Session,
  { env, type, tasks, on, format, node }: PlanFlags & { readonly env: string },
): Promise<void> {
  const asked = format === 'dot' ? 'dot' : 'json';
  const query = { graph_type: type, nodes: on?.join(','), tasks: tasks?.join(','), format: asked };
  const ask = { params: { id: env }, query };
  if (format === 'dot') return terminal.out(await (await client()).text('GET /clusters/:id/plan/', ask));
  const plan = await (await client()).call('GET /clusters/:id/plan/', ask);
  const nodes = node && (await plannedNodes(await client(), plan.nodes, node));
  const shown = nodes === undefined ? plan : { ...plan, nodes: plan.nodes.filter((one) => nodes.includes(one.node)) };
  if (format === 'json') return terminal.out(`${JSON.stringify(shown, null, 2)}\n`);
  terminal.out((await import('../../graph/index.ts')).planText(shown));
  if (plan.left_out.length > 0)
    terminal.out(`\nomitted nodes\n${plan.left_out.map((one) => `  ${one.node}: ${one.reason}\n`).join('')}`);
  for (const { code, path, message, hint } of plan.warnings)
    terminal.err(
      `warning[${code}]: ${path === undefined ? '' : `${path}: `}${message}\n${hint === undefined ? '' : `  hint: ${hint}\n`}`,
    );
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
  options: { readonly input: string; readonly format: PlanFormat; readonly node?: readonly string[] },
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
  const unknown = (options.node ?? []).find((node) => !plan.nodes.includes(node));
  if (unknown !== undefined) throw notPlanned(unknown, plan.nodes);
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
