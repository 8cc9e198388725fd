import { ROLES, type Role } from './words.ts';

export { ROLES, type Role } from './words.ts';

/** Required role of a route's caller, or none. */
export type Need = Role | 'anyone';

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

/** Whether the role is sufficient. */
export const covers = (role: Role, need: Need): boolean =>
  need === 'anyone' || ROLES.indexOf(role) >= ROLES.indexOf(need);

/** Names in the audit trail for automatic actors; no person or token has one. */
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
