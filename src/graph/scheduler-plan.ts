import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import type { PlanLimits, SchedulerPlan } from '../core/scheduler/index.ts';
import { taskKey } from '../core/task-on-node.ts';
import { truthy } from './fields/truth.ts';
import { type PlanOrder, planOrder } from './linking/order.ts';
import type { Plan } from './plan.ts';

interface SchedulerPlanOptions {
  readonly mode?: NonNullable<SchedulerPlan['mode']>;
  readonly limits?: PlanLimits;
}

/**
 * The plan for the scheduler: nodes with tasks, tasks without parameters, and the order with joins
 * instead of all-to-all pairs. The sync node is named `null`.
 */
export function schedulerPlan(
  plan: Plan,
  options: SchedulerPlanOptions = {},
  { edges, joins }: PlanOrder = planOrder(plan),
): SchedulerPlan {
  const keys = plan.instances.map(({ id, node }) => taskKey(id, plan.nodes[node]!));
  const sync = plan.nodes.length - 1;
  return {
    nodes: plan.nodes.flatMap((id, node) =>
      plan.byNode[node]!.length === 0 ? [] : [{ id, kind: node === sync ? ('sync' as const) : ('node' as const) }],
    ),
    tasks: plan.instances.map(({ task, id, node, type, failOnError, parameters }) => {
      const strategy = parameters?.strategy;
      return {
        id,
        node: plan.nodes[node]!,
        type,
        fail_on_error: truthy(failOnError),
        ...(isMapping(strategy) ? { strategy } : {}),
        ...(plan.tasks[task]?.merged.prepares ? { prepares: true as const } : {}),
      };
    }),
    edges: edges.map(([before, after]) => [keys[before]!, keys[after]!] as const),
    joins: joins.map(({ before, after }) => ({
      before: before.map((at) => keys[at]!),
      after: after.map((at) => keys[at]!),
    })),
    fault_tolerance_groups: plan.faultTolerance,
    subgraphs: plan.subgraphs,
    ...given({ mode: options.mode, limits: options.limits }),
  };
}
