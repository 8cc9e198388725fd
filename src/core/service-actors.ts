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
