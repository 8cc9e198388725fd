import { isMapping } from '../data/plain-value.ts';
import {
  flag,
  limit,
  lineOf,
  listOf,
  mapOf,
  nullable,
  objectOf,
  oneOf,
  positiveInteger,
  type Shape,
  valueThat,
  withRule,
} from '../data/shape.ts';
import {
  type Growth,
  isAmount,
  ORDER_KEYS,
  orderProblem,
  type StopAt,
  secondsIn,
  TIME,
  type WrittenRollout,
} from '../rollout/policy.ts';
import { holdNames, responsibleNames } from '../run/approval.ts';
import { descriptionFields, MAX, noteFields, type RunDescription } from '../run/description.ts';
import { type ParsedRunInput, parseRunInput } from '../run/input.ts';
import { ASKED_MODES, type GraphRunMode } from '../words.ts';

/** One graph of a run: by default all its tasks, for all nodes that its filter selects. */
export interface GraphRequest {
  readonly type: string;
  /** Ids of nodes, used instead of the graph's node filter. */
  readonly nodes?: readonly number[];
  /** Tasks that may run. The others keep their places in the order. */
  readonly tasks?: readonly string[];
  /** Only tasks that have changed since they succeeded on a node run there, as if they never had. */
  readonly missed?: boolean;
}

/** Checks of a site that nodes ask. */
export interface ChecksOnNodes {
  readonly site: string;
  readonly revision: number;
  readonly names: readonly string[];
  /** Names of nodes in the documents of the site. */
  readonly nodes: readonly string[];
}

/** Graphs of an input that names none. */
export const DEFAULT_GRAPHS: readonly GraphRequest[] = [{ type: 'default' }];

/** Input of `execute_graph`: one JSON object (docs/explain/design.md#the-temporal-surface). Give `graphs`, `sequence` or `from`. Without them: the graph of type `default`. */
export interface GraphRunInput extends RunDescription {
  readonly cluster: number;
  readonly graphs?: readonly GraphRequest[];
  /** Id of a sequence of the cluster's release. */
  readonly sequence?: number;
  /** Asks checks of a site on its nodes. */
  readonly checks?: ChecksOnNodes;
  /** Id of an earlier transaction: runs only failed and undone tasks there, and everything after them. */
  readonly from?: number;
  readonly mode?: (typeof ASKED_MODES)[number];
  /** Ignores earlier states: conditions treat everything as changed. */
  readonly force?: boolean;
  /** Makes task runners log more details. */
  readonly debug?: boolean;
  readonly subgraphs?: readonly { readonly start?: readonly string[]; readonly end?: readonly string[] }[];
  /** Maximum number of busy nodes; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /**
   * true: a graph with failed tasks stays open when nothing runs, until an operator retries or skips the failed tasks
   * (`retry_task`, `skip_task`) or ends the run with `stop`. Default false.
   */
  readonly hold_on_failure?: boolean;
  /** Tasks before which the run waits until an operator approves; `*`: before anything is changed. */
  readonly hold_before?: readonly string[];
  /** By role, its rollout in this run instead of that of the release or the cluster; null: none. */
  readonly rollouts?: OwnRollouts;
  /** Goes beyond the limits of sites, for this reason. Only of runs that the API starts, or of a run that does so itself. */
  readonly override_limits?: string;
  readonly started_by?: string;
  /** Who made the schedule that starts the run, and who triggered it; set by the service. None of them may approve. */
  readonly responsible?: readonly string[];
  readonly reason?: string;
}

export type OwnRollouts = Readonly<Record<string, WrittenRollout | null>>;

type ParsedGraphRunInput = ParsedRunInput<GraphRunInput>;

const name = lineOf(MAX.name);
const ids = listOf(positiveInteger, 1, MAX.names);
const tasks = listOf(name, 0, MAX.names);

const names = listOf(name, 1, MAX.names);

const graphs = withRule(
  listOf(objectOf<GraphRequest>({ type: name, nodes: ids, tasks: names, missed: flag }, ['type']), 1, 1000),
  (requests) => {
    const types = requests.map(({ type }) => type);
    const twice = types.find((type, at) => types.indexOf(type) !== at);
    return twice === undefined ? undefined : `names ${twice} twice, but a run executes a type once`;
  },
);

const amount = valueThat<NonNullable<WrittenRollout['first']>>(
  isAmount,
  'must be a number of nodes above 0, or a percentage',
);

const isGrowth = (value: unknown): boolean => {
  if (!isMapping(value)) return value === 'all' || value === 'double';
  const [[key, by] = []] = Object.entries(value);
  return Object.keys(value).length === 1 && (key === 'add' || key === 'by') && isAmount(by);
};

const isStop = (value: unknown): boolean => {
  const [[key, at] = []] = Object.entries(isMapping(value) ? value : {});
  if (!isMapping(value) || Object.keys(value).length !== 1 || !Number.isSafeInteger(at) || Number(at) < 1) return false;
  return key === 'failed' || (key === 'percent' && Number(at) <= 100);
};

const rollout: Shape<WrittenRollout> = objectOf<WrittenRollout>({
  first: amount,
  // biome-ignore lint/suspicious/noThenProperty: the word of the document
  then: valueThat<Growth>(isGrowth, 'must be double, all, {add: …} or {by: …}'),
  soak: valueThat<string>(
    (value) => typeof value === 'string' && TIME.test(value) && secondsIn(value) !== undefined,
    'must be a time such as "90s", "10m" or "2h", a week at most',
  ),
  stop_at: valueThat<StopAt>(isStop, 'must be {failed: N} or {percent: N}'),
  order: withRule(listOf(oneOf(ORDER_KEYS), 1), orderProblem),
  checks: listOf(name, 1, 10),
});

/** Fields that choose the graphs of a run; at most one may be given. */
const CHOICES = ['graphs', 'sequence', 'from', 'checks'] as const;

const fields = objectOf<GraphRunInput>(
  {
    cluster: positiveInteger,
    graphs,
    sequence: positiveInteger,
    checks: objectOf<ChecksOnNodes>({ site: name, revision: positiveInteger, names, nodes: names }, [
      ...(['site', 'revision', 'names', 'nodes'] as const),
    ]),
    from: positiveInteger,
    mode: oneOf(ASKED_MODES),
    force: flag,
    debug: flag,
    subgraphs: listOf(objectOf({ start: tasks, end: tasks }), 0, MAX.names),
    max_nodes: limit,
    hold_on_failure: flag,
    hold_before: holdNames,
    rollouts: mapOf(nullable(rollout)),
    override_limits: noteFields.reason,
    started_by: noteFields.by,
    responsible: responsibleNames,
    reason: noteFields.reason,
    ...descriptionFields,
  },
  ['cluster'],
);

/** How tasks of a run are carried out, and what becomes of their outcomes. */
export const modeOf = ({ mode, checks }: Pick<GraphRunInput, 'mode' | 'checks'>): GraphRunMode =>
  checks === undefined ? (mode ?? 'apply') : 'check';

/** Checks the workflow's arguments. Reports every bad field. */
export function parseGraphRunInput(args: readonly unknown[]): ParsedGraphRunInput {
  const parsed = parseRunInput(fields, args, '{"cluster":1,"graphs":[{"type":"default"}]}');
  const [raw] = args;
  const chosen = isMapping(raw) ? CHOICES.filter((name) => Object.hasOwn(raw, name)) : [];
  if (chosen.length < 2) return parsed;
  const problem = `fields ${chosen.map((name) => `'${name}'`).join(' and ')} exclude each other: give one of them`;
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), problem] };
}
