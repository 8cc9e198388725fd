import type { PlanReference } from '../../core/graph-run/plan-reference.ts';
import { explaining } from '../../graph/index.ts';
import type { NewPlan, PlannedRow, PlanRange } from '../../store/index.ts';
import { nodeTransitions } from '../node-transitions.ts';
import type { ClusterPlan } from '../plan-cluster.ts';
import { plannedWaves } from '../role-rollouts.ts';
import type { ClusterSources } from '../sources.ts';
import { cutPlan } from './cut-plan.ts';

/** The stored reference of a plan: the one for workflows, with the changes of nodes at the end. */
export interface StoredReference extends PlanReference {
  readonly node_transitions: ReturnType<typeof nodeTransitions>;
  /** Ids of nodes that leave the cluster as they are when the graph ends well. */
  readonly untouched: readonly number[];
}

/** What workflows and people get of it. */
export const planReferenceOf = ({ node_transitions: _, untouched: __, ...reference }: StoredReference): PlanReference =>
  reference;

/** What a run stores of its plan at once, in stored form; what grows with its tasks comes in ranges. */
export interface PreparedRun extends Omit<NewPlan, 'hash'> {
  readonly reference: StoredReference;
  /** JSON text: the merged tasks. */
  readonly tasks: string;
  /** JSON text: by task, the digest of what it does, to keep with its success. */
  readonly digests: string;
  /** For the cluster: tag -> primary node, and the choices of `policy: any`. */
  readonly primaries: Readonly<Record<string, number>>;
  readonly anyChoices: Readonly<Record<string, unknown>>;
  /** Ids of the nodes with work. */
  readonly worksOn: readonly number[];
}

/** A piece of the JSON text of the state used for the plan. */
interface PreparedState {
  readonly state: string;
}

/** What a run stores of some nodes of its plan. */
export interface PreparedRange extends PlanRange {
  /** A row for every task on every node; tasks that will not run have their final status, with the reason. */
  readonly rows: readonly (PlannedRow & { readonly position: number })[];
}

export type PreparedPiece = PreparedRun | PreparedState | PreparedRange;

/** So many tasks on nodes are together in a range, and those of its last node: small beside a plan, large beside a transaction of the store. */
const TASKS_IN_RANGE = 5_000;

/** A piece of the state has at least so many characters. */
const STATE_PIECE = 1_000_000;

/** Converts a plan to its stored form, in pieces: the first is the run. `capacity` and `prefix` as in `PlanningWork`. */
export function prepareRun(
  sources: ClusterSources,
  planned: ClusterPlan,
  capacity?: number,
  prefix?: string,
): { readonly run: PreparedRun; readonly pieces: Iterable<PreparedPiece> } {
  const { orderOf, ...cut } = cutPlan(sources, planned, capacity, prefix);
  const run: PreparedRun = {
    ...cut,
    reference: {
      ...cut.reference,
      node_transitions: nodeTransitions(planned.type, planned.metadata),
      untouched: planned.untouched,
    },
    tasks: JSON.stringify(planned.plan.tasks.map(({ merged }) => merged.task)),
    digests: digestsOf(planned),
    primaries: planned.primaries,
    anyChoices: planned.anyChoices,
    worksOn: workedNodes(planned),
  };
  const pieces = function* (): Generator<PreparedPiece> {
    yield run;
    let state = '';
    for (const text of stateText(planned.input.state)) {
      state += text;
      if (state.length < STATE_PIECE) continue;
      yield { state };
      state = '';
    }
    yield { state };
    yield* rangesOf(planned, orderOf);
  };
  return { run, pieces: pieces() };
}

/** As `JSON.stringify` gives it. */
function* stateText({ common, nodes, facts }: ClusterPlan['input']['state']): Generator<string> {
  yield `{"common":${JSON.stringify(common)},"nodes":`;
  yield* mappingText(nodes);
  if (facts !== undefined) {
    yield `,"facts":{"common":${JSON.stringify(facts.common)},"nodes":`;
    yield* mappingText(facts.nodes);
    yield '}';
  }
  yield '}';
}

function* mappingText(mapping: Readonly<Record<string, object>>): Generator<string> {
  let before = '{';
  for (const [key, value] of Object.entries(mapping)) {
    yield `${before}${JSON.stringify(key)}:${JSON.stringify(value)}`;
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* rangesOf(planned: ClusterPlan, orderOf: ReturnType<typeof cutPlan>['orderOf']): Generator<PreparedRange> {
  const { plan, input, graph, leftOut, problems } = planned;
  const { totals, ofNode, ...others } = explaining(plan, input);
  // The stored explanation for people: the result of `explainPlan` with the excluded nodes and all warnings.
  const rest = {
    ...others,
    ...plannedWaves(graph),
    left_out: leftOut,
    warnings: problems.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`)),
  };
  let explanation = `{"totals":${JSON.stringify(totals)},"nodes":[`;
  let [rows, orders]: [PreparedRange['rows'][number][], PlanRange['orders'][number][]] = [[], []];
  let comma = '';
  for (const [at, tasks] of plan.byNode.entries()) {
    const explained = ofNode(at);
    if (explained === undefined) continue;
    explanation += comma + JSON.stringify(explained);
    comma = ',';
    const why = new Map(
      explained.skipped.map(({ task, why: reason, values }) => [
        task,
        values.length === 0 ? reason : `${reason}; ${values.join(', ')}`,
      ]),
    );
    for (const task of tasks) {
      rows.push(plannedRow(planned, task, why));
      const order = orderOf(task);
      if (order !== undefined) orders.push(order);
    }
    if (rows.length < TASKS_IN_RANGE) continue;
    yield { orders, rows, explanation };
    [rows, orders, explanation] = [[], [], ''];
  }
  yield { orders, rows, explanation: `${explanation}],${JSON.stringify(rest).slice(1)}` };
}

function workedNodes({ graph }: ClusterPlan): number[] {
  if (graph === null) return [];
  const works = new Set(graph.nodeOf.filter((_, task) => graph.noWork[task] !== 1).map((node) => graph.nodes[node]!));
  return [...works].filter((uid) => /^\d+$/.test(uid)).map(Number);
}

function digestsOf({ plan }: ClusterPlan): string {
  const digests = new Map<string, string>();
  for (const { id, task } of plan.instances) digests.set(id, plan.tasks[task]!.digest);
  return JSON.stringify(Object.fromEntries(digests));
}

function plannedRow(
  { plan, graph, only }: ClusterPlan,
  position: number,
  why: ReadonlyMap<string, string>,
): PreparedRange['rows'][number] {
  const { id, node, type, skip, hasChanged } = plan.instances[position]!;
  const row = { position, node: plan.nodes[node]!, task: id };
  if (graph?.noWork[position] !== 1) return { ...row, custom: { type } };
  const left = only?.[position] === 0 ? 'done_before' : 'subgraph';
  const reason = skip ?? left;
  const message =
    why.get(id) ??
    (reason === 'done_before' ? 'done in the run that this one continues' : 'not in the chosen part of the graph');
  return {
    ...row,
    status: 'skipped',
    message: message.slice(0, 1_000),
    custom: { type, skipped: reason, ...(hasChanged && skip === 'condition' ? { missed: true } : {}) },
  };
}
