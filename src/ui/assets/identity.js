// The user of this page, and their role.
import { signal } from '@preact/signals';
import { get, operator } from './api.js';

const RANK = { viewer: 0, operator: 1, admin: 2 };

/** The user from the API: `{name, role, tokens}`; null until known. */
export const me = signal(null);

/** Asks for the user once, since a token keeps its role. An unreachable API is shown elsewhere. */
export async function learnWhoWeAre() {
  try {
    me.value = await get('/api/v1/me');
  } catch {
    me.value = null;
  }
}

/** With tokens the name is the token's; without them people enter their name. */
export const hasToken = () => me.value?.tokens === true;

/** Whom reports and the audit will name. */
export const actorName = () => (hasToken() ? me.value.name : operator.name);

/** Why this role may not do it; undefined where it may, or where that is not known yet: then the API decides. */
export function forbidden(needs) {
  const role = me.value?.role;
  if (role === undefined || RANK[role] >= RANK[needs]) return undefined;
  return `Your token has the role ${role}; this needs ${needs === 'admin' ? 'an admin' : 'an operator'}.`;
}
