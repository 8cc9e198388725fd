import type { Health as ShownHealth } from '../../core/contracts/index.js';
import { maasCheckSchema } from '../../core/contracts/service.js';
import type { Health } from '../../ops/index.js';
import { shown } from '../shown.js';

/** Without these no run can be started or asked. */
const NEEDED = new Set(['store', 'temporal', 'namespace']);

export function viewHealth({ ok, checks }: Health): ShownHealth {
  const unavailable = checks.some((one) => !one.ok && NEEDED.has(one.name));
  return { status: ok ? 'ok' : unavailable ? 'unavailable' : 'degraded', ok, checks };
}

export const viewMaasCheck = shown(maasCheckSchema);
