// The user of this page, and their role.
import { signal } from '@preact/signals';
import type { Role } from '../../core/words.ts';
import { type Answer, at, get, operator } from './api.ts';

const RANK = { viewer: 0, operator: 1, admin: 2 };

/** The user from the API; null until known. */
export const me = signal<Answer<'GET /me'> | null>(null);

/** Asks for the user once, since a token keeps its role. An unreachable API is shown elsewhere. */
export async function learnWhoWeAre(): Promise<void> {
  try {
    me.value = await get(at('GET /me'));
  } catch {
    me.value = null;
  }
}

/** With tokens the name is the token's; without them people enter their name. */
export const hasToken = (): boolean => me.value?.tokens === true;

/** Whom reports and the audit will name. */
export const actorName = (): string => (me.value?.tokens === true ? me.value.name : operator.name);

/** Why this role may not do it; undefined where it may, or where that is not known yet: then the API decides. */
export function forbidden(needs: Role): string | undefined {
  const role = me.value?.role;
  if (role === undefined || RANK[role] >= RANK[needs]) return undefined;
  return `Your token has the role ${role}; this needs ${needs === 'admin' ? 'an admin' : 'an operator'}.`;
}
