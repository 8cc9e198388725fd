import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { isMapping } from '../data/plain-value.ts';
import { flag, limit, lineOf, listOf, optional, positiveInteger, rule, textOf } from '../data/schema.ts';
import { writtenRollout } from '../rollout/policy.ts';
import { holdNames, MAX, startFields } from '../run/description.ts';
import { type ParsedRunInput, parseRunInput } from '../run/input.ts';
import { ASKED_MODES, type GraphRunMode } from '../words.ts';

const name = lineOf(MAX.name);
const ids = listOf(positiveInteger, 1, MAX.names);
const tasks = listOf(name, 0, MAX.names);
const names = listOf(name, 1, MAX.names);

/** One graph of a run: by default all its tasks, for all nodes that its filter selects. */
const graphRequest = z.strictObject({
  type: name,
  ...optional({
    /** Ids of nodes, used instead of the graph's node filter. */
    nodes: ids,
    /** Tasks that may run. The others keep their places in the order. */
    tasks: names,
    /** Only tasks that have changed since they succeeded on a node run there, as if they never had. */
    missed: flag,
  }),
});
export type GraphRequest = Wire<typeof graphRequest>;

const graphs = listOf(graphRequest, 1, 1000).check(
  rule((requests) => {
    const types = requests.map(({ type }) => type);
    const twice = types.find((type, at) => types.indexOf(type) !== at);
    return twice === undefined ? undefined : `names ${twice} twice, but a run executes a type once`;
  }),
);

/** Checks of a site that nodes ask. */
const checksOnNodes = z.strictObject({
  site: name,
  revision: positiveInteger,
  names,
  /** Names of nodes in the documents of the site. */
  nodes: names,
});
export type ChecksOnNodes = Wire<typeof checksOnNodes>;

/** Graphs of an input that names none. */
export const DEFAULT_GRAPHS: readonly GraphRequest[] = [{ type: 'default' }];

/** Fields that choose the graphs of a run; at most one may be given. */
const CHOICES = ['graphs', 'sequence', 'from', 'checks'] as const;

/** Input of `execute_graph`: one JSON object (docs/explain/design.md#the-temporal-surface). Give `graphs`, `sequence` or `from`. Without them: the graph of type `default`. */
const fields = z.strictObject({
  cluster: positiveInteger,
  ...optional({
    graphs,
    /** Id of a sequence of the cluster's release. */
    sequence: positiveInteger,
    /** Asks checks of a site on its nodes. */
    checks: checksOnNodes,
    /** Id of an earlier transaction: runs only failed and undone tasks there, and everything after them. */
    from: positiveInteger,
    mode: z.enum(ASKED_MODES),
    /** Ignores earlier states: conditions treat everything as changed. */
    force: flag,
    /** Makes task runners log more details. */
    debug: flag,
    subgraphs: listOf(z.strictObject(optional({ start: tasks, end: tasks })), 0, MAX.names),
    /** Maximum number of busy nodes; 0 or absent: no limit. */
    max_nodes: limit,
    /**
     * true: a graph with failed tasks stays open when nothing runs, until an operator retries or skips the failed tasks
     * (`retry_task`, `skip_task`) or ends the run with `stop`. Default false.
     */
    hold_on_failure: flag,
    /** Tasks before which the run waits until an operator approves; `*`: before anything is changed. */
    hold_before: holdNames,
    /** By role, its rollout in this run instead of that of the release or the cluster; null: none. */
    rollouts: z.record(z.string(), z.nullable(writtenRollout)),
    /** Goes beyond the limits of sites, for this reason. Only of runs that the API starts, or of a run that does so itself. */
    override_limits: textOf(MAX.reason),
  }),
  ...startFields,
});
export type GraphRunInput = Wire<typeof fields>;
export type OwnRollouts = NonNullable<GraphRunInput['rollouts']>;

/** How tasks of a run are carried out, and what becomes of their outcomes. */
export const modeOf = ({ mode, checks }: Pick<GraphRunInput, 'mode' | 'checks'>): GraphRunMode =>
  checks === undefined ? (mode ?? 'apply') : 'check';

/** Checks the workflow's arguments. Reports every bad field. */
export function parseGraphRunInput(args: readonly unknown[]): ParsedRunInput<GraphRunInput> {
  const parsed = parseRunInput(fields, args, '{"cluster":1,"graphs":[{"type":"default"}]}');
  const [raw] = args;
  const chosen = isMapping(raw) ? CHOICES.filter((name) => Object.hasOwn(raw, name)) : [];
  if (chosen.length < 2) return parsed;
  const problem = `fields ${chosen.map((name) => `'${name}'`).join(' and ')} exclude each other: give one of them`;
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), problem] };
}
