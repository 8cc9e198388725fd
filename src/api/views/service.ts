import type { Health, MaasCheck } from '../../ops/index.js';
import type { HealthAnswer, MaasCheckAnswer } from '../schemas/index.js';

/** Without these no run can be started or asked. */
const NEEDED = new Set(['store', 'temporal', 'namespace']);

export function viewHealth({ ok, checks }: Health): HealthAnswer {
  const unavailable = checks.some((one) => !one.ok && NEEDED.has(one.name));
  return { status: ok ? 'ok' : unavailable ? 'unavailable' : 'degraded', ok, checks };
}

export const viewMaasCheck = ({ ok, root, version, user, machines, findings }: MaasCheck): MaasCheckAnswer => ({
  ok,
  root,
  ...(version === undefined ? {} : { version }),
  ...(user === undefined ? {} : { user: { username: user.username, is_superuser: user.isSuperuser } }),
  ...(machines === undefined ? {} : { machines }),
  findings,
});
