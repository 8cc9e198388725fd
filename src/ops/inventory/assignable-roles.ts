import type { Catalogue } from '../../clusters/tags/catalogue.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

import { textsOf } from './json-object.ts';

/**
 * Problems with giving a node these roles together: unknown, repeated, and mutually exclusive ones.
 *
 * @param whom node and cluster, as messages call them
 */
export function checkRoles(
  roles: readonly string[],
  known: Catalogue['roles'],
  path: string,
  whom: string,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const refuse = (code: string, message: string, hint: string) =>
    found.push({ severity: 'error', code, message, hint, path });
  const names = [...new Set(roles)];
  const unknown = names.filter((role) => !known.has(role));
  if (unknown.length > 0) {
    const is = unknown.length === 1 ? 'is not a valid role' : 'are not valid roles';
    const all = [...known.keys()].sort();
    refuse(
      'role.unknown',
      `${unknown.join(', ')} ${is} for ${whom}`,
      didYouMean(unknown[0]!, all) ?? (all.length === 0 ? 'Its release has no roles.' : `Known: ${all.join(', ')}.`),
    );
  }
  for (const [first, second] of conflicts(names, known))
    refuse('role.conflict', `Role '${first}' in conflict with role '${second}'.`, 'Give the node only one of the two.');
  return found;
}

/** Pairs of mutually exclusive roles, each once. `*` excludes all others. */
function conflicts(names: readonly string[], known: Catalogue['roles']): [string, string][] {
  const excludes = (role: string, other: string): boolean => {
    const listed = textsOf(known.get(role)?.meta.conflicts);
    return listed.includes('*') || listed.includes(other);
  };
  return names.flatMap((first, index) =>
    names
      .slice(index + 1)
      .flatMap((second): [string, string][] =>
        excludes(first, second) ? [[first, second]] : excludes(second, first) ? [[second, first]] : [],
      ),
  );
}
