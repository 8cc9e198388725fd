import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import type { RolloutPolicy } from '../core/rollout/policy.ts';
import { compilePlan } from '../core/scheduler/compile.ts';
import type { Links } from '../core/scheduler/links.ts';
import type { PlanLimits, SchedulerPlan } from '../core/scheduler/plan.ts';
import { truthy } from './fields/truth.ts';
import { linksOf } from './linking/order.ts';
import type { Plan } from './plan.ts';

interface GraphOptions extends Pick<SchedulerPlan, 'only' | 'mode'> {
  readonly limits?: PlanLimits;
  /** Roles with a rollout, and the ids of their nodes in its order. */
  readonly rollouts?: readonly {
    readonly name: string;
    readonly policy: RolloutPolicy;
    readonly nodes: readonly string[];
  }[];
}

/**
 * A plan compiled for the scheduler, without parameters. Its tasks are the instances of the plan, with the same numbers, its
 * nodes those with tasks. The sync node is named `null`.
 */
export function schedulerGraph(
  plan: Plan,
  { only, mode, limits, rollouts = [] }: GraphOptions = {},
  links: Links = linksOf(plan),
): ReturnType<typeof compilePlan> {
  const used = [...plan.nodes.keys()].filter((node) => plan.byNode[node]!.length > 0);
  const numberOf = new Map(used.map((node, at) => [node, at]));
  const numberOfId = new Map(used.map((node, at) => [plan.nodes[node]!, at]));
  const sync = plan.nodes.length - 1;
  // The scheduler reads the strategy of the last node that has the task, be it skipped there.
  const strategies = new Map(
    plan.instances.flatMap(({ id, parameters }) =>
      isMapping(parameters?.strategy) ? [[id, parameters.strategy] as const] : [],
    ),
  );
  return compilePlan({
    nodes: used.map((node) => ({ id: plan.nodes[node]!, kind: node === sync ? 'sync' : 'node' })),
    tasks: plan.instances.map(({ task, id, node, type, failOnError, parameters }) => {
      const strategy = parameters === undefined ? strategies.get(id) : parameters.strategy;
      return {
        id,
        node: numberOf.get(node)!,
        type,
        fail_on_error: truthy(failOnError),
        ...(isMapping(strategy) ? { strategy } : {}),
        ...(plan.tasks[task]?.merged.prepares ? { prepares: true as const } : {}),
      };
    }),
    ...links,
    groups: plan.faultTolerance.map(({ name, node_ids, fault_tolerance }) => ({
      name,
      nodes: [...new Set(node_ids)].flatMap((id) => numberOfId.get(id) ?? []),
      tolerance: fault_tolerance,
    })),
    rollouts: rollouts.map(({ name, policy, nodes }) => ({
      ...{ name, policy },
      order: nodes.flatMap((id) => numberOfId.get(id) ?? []),
    })),
    subgraphs: plan.subgraphs,
    ...given({ only, mode, limits }),
  });
}
