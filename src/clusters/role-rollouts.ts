import type { PlannedCheck } from '../core/checks/check.ts';
import type { PlanExplanation } from '../core/contracts/fuel/plan-explanation.ts';
import { roleRolloutSchema } from '../core/contracts/written-rollout.ts';
import { isMapping } from '../core/data/plain-value.ts';
import type { OwnRollouts } from '../core/graph-run/input.ts';
import { rolloutOrder } from '../core/rollout/order.ts';
import { policyOf, type RolloutPolicy, type WrittenRollout } from '../core/rollout/policy.ts';
import type { SchedulerGraph } from '../core/scheduler/graph.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { checkSchema, unplaced } from '../documents/index.ts';
import type { Problems } from '../graph/index.ts';
import { type ClusterNode, nameOf, uidOf } from './sources.ts';
import type { Catalogue } from './tags/catalogue.ts';
import { allRoles } from './tags/of-sources.ts';

/** A role with a rollout, and the ids of its nodes in the order in which the rollout reaches them. */
export interface RoleRollout {
  readonly name: string;
  readonly policy: RolloutPolicy;
  readonly nodes: readonly string[];
}

interface RolloutContext {
  readonly own?: OwnRollouts | undefined;
  /** Checks of the site and of the packages of the cluster; undefined: there are no documents. */
  readonly checks?: readonly PlannedCheck[] | undefined;
  /** Racks in the documents of the site, by the names of its machines. */
  readonly racks?: Readonly<Record<string, string>> | undefined;
}

/**
 * The rollouts of the roles of these nodes. What the run was asked decides before the copy of a role in the settings of the cluster, and that before
 * its release or plugin. A node with several such roles belongs to the first in the order of the release.
 */
export function rolloutsOfRoles(
  { roles }: Pick<Catalogue, 'roles'>,
  nodes: readonly ClusterNode[],
  problems: Problems,
  { own = {}, checks, racks = {} }: RolloutContext = {},
): RoleRollout[] {
  return [...roles].flatMap(([name, { meta }]): RoleRollout[] => {
    const isOwn = Object.hasOwn(own, name);
    const written = isOwn ? own[name] : meta.rollout;
    if (written === undefined || written === null) return [];
    const at = isOwn ? ['rollouts', name] : ['roles', name, 'rollout'];
    const read = checkSchema(roleRolloutSchema, written, { at });
    if (!read.ok) {
      for (const { message, hint } of read.problems.map(unplaced)) problems.error(at, 'rollout.invalid', message, hint);
      return [];
    }
    const rollout = read.value as WrittenRollout;
    refuseChecks(rollout, at, checks, problems);
    const members = nodes.filter((node) => allRoles(node).includes(name));
    const placed = members.map((node) => ({ name: nameOf(node), rack: racks[nameOf(node)] ?? rackOf(node) }));
    const order = rolloutOrder(placed, rollout.order ?? []);
    if (members.length === 0) return [];
    return [{ name, policy: policyOf(rollout), nodes: order.map((one) => uidOf(members[one]!)) }];
  });
}

/** What nobody can ask is never well. */
function refuseChecks(
  { checks = [] }: WrittenRollout,
  at: readonly string[],
  known: readonly PlannedCheck[] | undefined,
  problems: Problems,
): void {
  checks.forEach((name, index) => {
    const found = known?.find((one) => one.name === name);
    const place = [...at, 'checks', index];
    const names = known?.map((one) => one.name) ?? [];
    if (known === undefined)
      problems.error(
        place,
        'rollout.no-checks',
        `the rollout names the check '${name}', but the cluster belongs to no site with documents`,
        'Link the cluster to a site (sitewright cluster update --site SITE), or remove checks from the rollout.',
      );
    else if (found === undefined)
      problems.error(
        place,
        'rollout.unknown-check',
        `the rollout names the check '${name}', which neither the site of the cluster nor its packages have`,
        didYouMean(name, names) ?? 'Add a document of the schema sitewright/Check/v1 with that name.',
      );
  });
}

/** What rollouts of roles, in the cluster or in what a run is asked, need of the documents of the site. */
export function neededByRollouts({ roles }: Pick<Catalogue, 'roles'>, own: OwnRollouts = {}) {
  const all = [...[...roles.values()].map(({ meta }) => meta.rollout), ...Object.values(own)].filter(isMapping);
  return {
    checks: all.some(({ checks }) => checks !== undefined),
    racks: all.some(({ order }) => order !== undefined),
  };
}

/** The waves of a plan, for people. */
export const plannedWaves = (graph: SchedulerGraph | null): Pick<PlanExplanation, 'rollouts'> =>
  graph?.rollouts === undefined
    ? {}
    : {
        rollouts: graph.rollouts.map(({ name, waves }) => ({
          role: name,
          waves: waves.map((nodes) => nodes.map((node) => graph.nodes[node]!)),
        })),
      };

/** The label `rack` of a node. The documents of its site decide before it. */
const rackOf = ({ labels: { rack } }: ClusterNode): string | null => (typeof rack === 'string' ? rack : null);
