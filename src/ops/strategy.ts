import type { Strategy } from '../core/contracts/strategy.ts';
import { together } from '../core/data/together.ts';
import { successesNeeded } from '../core/deployment/criteria.ts';
import { stableOrder } from '../core/deployment/order.ts';
import { failuresAllowed, waveSizes } from '../core/rollout/waves.ts';
import { counted, someOf } from '../core/text/text.ts';
import type { ResolvedSite } from '../documents/index.ts';

/** The groups of a site, with warnings about oddities: a node in several groups or in none, an empty group. */
export function viewStrategy({
  strategyName,
  groups: plans,
  nodes,
}: Pick<ResolvedSite, 'strategyName' | 'groups' | 'nodes'>): Strategy {
  const groups = plans.map((plan) => ({
    name: plan.name,
    critical: plan.critical,
    depends_on: plan.depends_on,
    nodes: plan.nodes.map((index) => nodes[index]!.name),
    success_criteria: { ...plan.success_criteria },
    successes_needed: successesNeeded(plan.success_criteria, plan.nodes.length),
    ...(plan.rollout && {
      waves: waveSizes(plan.rollout, plan.nodes.length),
      soak: plan.rollout.soak,
      stop_at: failuresAllowed(plan.rollout.stop_at, plan.nodes.length),
    }),
  }));
  const placed = nodes.map(({ name }) => ({
    name,
    of: groups.flatMap((group) => (group.nodes.includes(name) ? [group.name] : [])),
  }));
  const shared = together(
    placed.filter(({ of }) => of.length > 1),
    ({ of }) => JSON.stringify(of),
  );
  const warnings = [
    ...about('group', namesOf(groups.filter((group) => group.nodes.length === 0)), 'has no nodes', 'have no nodes'),
    ...groups
      .filter(({ successes_needed: needed }) => needed === null)
      .map(
        ({ name, nodes: { length } }) => `group ${name} can never meet its criteria with ${counted(length, 'node')}`,
      ),
    ...about(
      'node',
      namesOf(placed.filter(({ of }) => of.length === 0)),
      'is in no group: it will not be deployed',
      'are in no group: they will not be deployed',
    ),
    ...[...shared.values()].flatMap((all) => {
      const several = `in ${counted(all[0]!.of.length, 'group')} (${all[0]!.of.join(', ')}): the first group to reach`;
      return about('node', namesOf(all), `is ${several} it deploys it`, `are ${several} them deploys them`);
    }),
  ];
  return { name: strategyName, order: stableOrder(plans), groups, warnings };
}

/** More names than these are a number. */
const NAMED = 8;

/** What is true of one or several: one sentence, with their names. */
function about(what: string, names: readonly string[], one: string, many: string): readonly string[] {
  if (names.length === 0) return [];
  return [names.length === 1 ? `${what} ${names[0]} ${one}` : `${what}s ${someOf(names, NAMED)} ${many}`];
}

const namesOf = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name);
