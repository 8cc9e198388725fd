import { ROLES, type Role } from './words.ts';

export { ROLES, type Role } from './words.ts';

/** What a route requires of its caller: a role, or nothing. */
export type Need = Role | 'anyone';

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

/** Whether the role is sufficient. */
export const covers = (role: Role, need: Need): boolean =>
  need === 'anyone' || ROLES.indexOf(role) >= ROLES.indexOf(need);

/** Names in the audit trail of what acts without a person; no person or token has one. */
const SERVICE_ACTORS: ReadonlySet<string> = new Set([
  'anonymous',
  'api',
  'git',
  'node',
  'schedule',
  'sitewright',
  'system',
  'temporal',
  'unknown',
  'webhook',
]);

export const isServiceActor = (name: string): boolean => SERVICE_ACTORS.has(name.trim().toLowerCase());
