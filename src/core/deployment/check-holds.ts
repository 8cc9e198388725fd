import { BEFORE_CHANGES } from '../run/approval.ts';
import { unknownName } from '../text/did-you-mean.ts';
import { counted } from '../text/text.ts';
import type { GroupPlan } from './group-plan.ts';

/** Checks `hold_before` of a site run: all names of groups that do not exist, and nodes that are not held back. */
export function checkHolds(
  names: readonly string[],
  groups: readonly GroupPlan[],
  nodes: readonly string[],
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const held = new Set(names);
  const known = groups.map(({ name }) => name);
  const problems = names
    .filter((name) => name !== BEFORE_CHANGES && !known.includes(name))
    .map((name) => `hold_before: ${unknownName('group', name, known)}`);
  const free = groups.filter((group) => !waits(group.name));
  const warnings = groups.flatMap((group) => {
    if (!held.has(group.name)) return [];
    const shared = group.nodes.filter((node) => free.some((other) => other.nodes.includes(node)));
    if (shared.length === 0) return [];
    const some = shared.slice(0, 5).map((node) => nodes[node]);
    return [
      `group ${group.name} waits for approval, but ${counted(shared.length, 'node')} of it (${some.join(', ')}${shared.length > some.length ? ' …' : ''}) also belong to groups that do not`,
    ];
  });
  return { problems, warnings };

  function waits(name: string): boolean {
    return held.has(name) || (groups.find((group) => group.name === name)?.depends_on ?? []).some(waits);
  }
}
