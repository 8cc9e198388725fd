import { createHash } from 'node:crypto';
import { printable } from '../core/control-characters.js';
import type { Logger } from '../platform/telemetry/log.js';
import type { AuditStore } from '../store/index.js';

/** An event that means a forbidden attempt or a defect of ours. */
interface Alarm {
  readonly site: string;
  readonly node: string;
  /** Stable, e.g. `other-node`. */
  readonly kind: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type Alarms = (alarm: Alarm) => Promise<void>;

/**
 * Writes alarms to the audit trail (`agent.alarm`) and to the log. Writes equal alarms once an hour, so that a faulty
 * program does not fill the store.
 */
export function auditedAlarms(audit: AuditStore, log: Logger, now: () => Date = () => new Date()): Alarms {
  return async ({ site, node, kind, message: written, details }) => {
    // A node writes it: it must not pass for other lines of a log.
    const message = printable(written).slice(0, 1000);
    const at = now().toISOString();
    const target = `node/${site}/${node}`;
    const same = JSON.stringify([target, kind, message, details, at.slice(0, 13)]);
    const kept = await audit.append({
      id: `alarm-${createHash('sha256').update(same).digest('hex').slice(0, 32)}`,
      at,
      actor: target,
      action: 'agent.alarm',
      target,
      reason: message,
      details: { kind, ...details },
    });
    if (kept.at === at) log.warn({ site, node, kind }, `alarm: ${message}`);
  };
}
