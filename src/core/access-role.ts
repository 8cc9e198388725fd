/** What a token may do; each role may do all that those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** What a route asks of its caller: a role, or nothing at all. */
export type Need = Role | 'anyone';

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

/** Whether a role is enough. */
export const covers = (role: Role, need: Need): boolean =>
  need === 'anyone' || ROLES.indexOf(role) >= ROLES.indexOf(need);
