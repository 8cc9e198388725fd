import type { Call, NodeState } from '../words.ts';
import { finishCall, finishNode, halts, type NodeResult, nextCall, startBaremetal, startNode } from './baremetal.ts';
import { checkStrategy, describeStrategyProblem } from './check-strategy.ts';
import { planGroups } from './plan-groups.ts';
import { recordLook } from './rollout.ts';
import { allAtOnceStrategy, type DeploymentStrategy, type SiteNode, targetedStrategy } from './strategy.ts';

/** Result of a node in one call; absent means success. `no_join`: deployed, but never joins: a failure. */
export const SIMULATED_OUTCOMES = ['success', 'failure', 'timeout', 'no_join'] as const;
export type SimulatedOutcome = (typeof SIMULATED_OUTCOMES)[number];

export interface SimulationInput {
  /** `data` of a DeploymentStrategy document; null when the site has none. */
  readonly strategy: DeploymentStrategy | null;
  readonly nodes: readonly SiteNode[];
  readonly outcomes?: Readonly<Record<string, Partial<Record<Call, SimulatedOutcome>>>>;
  /** Deploy only these, as one critical group at 100 %. */
  readonly target_nodes?: readonly string[];
}

interface SimulatedCall {
  readonly group: string;
  readonly step: Call;
  readonly nodes: readonly string[];
  readonly timed_out?: true;
}

/** Shape of shared/shipyard/vectors: stage names NOT_STARTED, PREPARED, DEPLOYED, FAILED. */
export type SimulationResult =
  | { readonly rejected: readonly string[] }
  | {
      readonly order: readonly string[];
      readonly processed: readonly string[];
      readonly calls: readonly SimulatedCall[];
      readonly groups: Readonly<Record<string, string>>;
      /** Nodes of at least one group. */
      readonly nodes: Readonly<Record<string, string>>;
      readonly halts: boolean;
    };

/** Runs a strategy against scripted outcomes, through the same state machine as a real run. */
export function simulateStrategy(input: SimulationInput): SimulationResult {
  if (input.target_nodes?.length === 0) return { rejected: ['target_nodes is an empty list'] };
  const strategy = input.target_nodes ? targetedStrategy(input.target_nodes) : (input.strategy ?? allAtOnceStrategy());
  const problems = checkStrategy(strategy);
  if (problems.length > 0) return { rejected: problems.map(describeStrategyProblem) };

  const outcomes = new Map(Object.entries(input.outcomes ?? {}));
  const names = input.nodes.map((node) => node.name);
  const calls: SimulatedCall[] = [];
  let state = startBaremetal(planGroups(strategy, input.nodes), names);
  for (let now = 0; ; now += 1) {
    const next = nextCall(state, now);
    state = next.state;
    if (next.rest) {
      if (next.rest.kind === 'soak') now = next.rest.until;
      else state = recordLook(state, next.rest.group, { problems: [] }, now);
      continue;
    }
    if (!next.call) break;
    const { call, nodes, name } = next.call;
    let timedOut = false;
    for (const index of nodes) {
      state = startNode(state, index, now);
      const outcome = outcomes.get(names[index]!)?.[call] ?? 'success';
      if (outcome === 'timeout') timedOut = true;
      else state = finishNode(state, index, call, resultOf(outcome), now);
    }
    state = finishCall(state, timedOut ? { kind: 'timeout' } : { kind: 'complete' }, now);
    const sorted = nodes.map((index) => names[index]!).sort();
    calls.push({ group: name, step: call, nodes: sorted, ...(timedOut ? { timed_out: true as const } : {}) });
  }
  const selected = new Set(state.groups.flatMap((group) => group.plan.nodes));
  return {
    order: state.order,
    processed: state.processed,
    calls,
    groups: Object.fromEntries(state.groups.map((group) => [group.plan.name, STAGE_NAMES[group.state]])),
    nodes: Object.fromEntries(
      state.nodes.flatMap((node, index) =>
        selected.has(index) ? [[node.name, STAGE_NAMES[node.state]] as const] : [],
      ),
    ),
    halts: halts(state),
  };
}

function resultOf(outcome: Exclude<SimulatedOutcome, 'timeout'>): NodeResult {
  if (outcome === 'success') return { ok: true };
  return { ok: false, failure: { kind: outcome, message: `simulated ${outcome}` } };
}

/** The stage names of the replaced systems, used by `strategy simulate`. */
const STAGE_NAMES: Readonly<Record<NodeState, string>> = {
  waiting: 'NOT_STARTED',
  not_reached: 'NOT_STARTED',
  prepared: 'PREPARED',
  success: 'DEPLOYED',
  failed: 'FAILED',
};
