import { createHash } from 'node:crypto';
import { printable } from '../core/text/control-characters.ts';
import type { Logger } from '../platform/telemetry/log.ts';
import type { AuditStore } from '../store/index.ts';

/** An event that means a forbidden attempt or a defect of ours. */
interface Alarm {
  readonly site: string;
  readonly node: string;
  /** Stable, e.g. `other-node`. */
  readonly kind: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The node itself chose kind and words. */
  readonly reported?: true;
}

export type Alarms = (alarm: Alarm) => Promise<void>;

/** Different alarms of one node and kind within an hour, and of all that it reports itself. */
const MAX_IN_AN_HOUR = 30;

/**
 * Writes alarms to the audit trail (`agent.alarm`) and to the log. Writes equal alarms once an hour, so that a faulty
 * program does not fill the store; of different ones, so many of a node, and then that there were more.
 */
export function auditedAlarms(audit: AuditStore, log: Logger, now: () => Date = () => new Date()): Alarms {
  let hour = '';
  const counts = new Map<string, number>();
  /** How many there were of this class in this hour, with this one. */
  const counted = (at: string, name: string): number => {
    if (hour !== at.slice(0, 13)) counts.clear();
    hour = at.slice(0, 13);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count;
  };
  const write = async ({ site, node, kind, message: written, details }: Alarm): Promise<void> => {
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
  return async (alarm) => {
    const { site, node, kind, reported } = alarm;
    const name = JSON.stringify([site, node, reported ? 'reported' : kind]);
    if (counted(now().toISOString(), name) <= MAX_IN_AN_HOUR) return write(alarm);
    const what = reported ? 'alarms that it reports' : `alarms '${kind}'`;
    const message = `more than ${MAX_IN_AN_HOUR} ${what} within an hour: the rest of them is not recorded`;
    await write({ site, node, kind: 'too-many-alarms', message });
  };
}
