import { type MaintenanceNote, maintenanceText } from './maintenance.ts';
import { hasSystem, outOfServiceOf } from './node-system.ts';

/** How a machine stands, the worst first. `silent`: its agent does not answer. `drifted`: not as its documents or version say. */
export const HEALTHS = ['failed', 'silent', 'drifted', 'running', 'maintenance', 'bare', 'unknown', 'ok'] as const;
export type Health = (typeof HEALTHS)[number];

export interface Standing {
  readonly health: Health;
  /** Why, unless the word says it. */
  readonly reason?: string;
}

interface KnownNode {
  readonly status: string;
  readonly errorType: string | null;
  readonly errorMsg: string | null;
  readonly site: string | null;
  readonly clusterId: number | null;
  readonly online: boolean;
}

/** What else is known of a node. */
export interface AboutNode {
  /** What an open run does with it, or how it failed there. */
  readonly inRun?: { readonly running: string | undefined; readonly failed: string | undefined } | undefined;
  readonly maintenance?: MaintenanceNote | undefined;
  /** How it differs from what it should be; undefined if it does not. */
  readonly behind?: string | undefined;
}

/** One word for how a machine stands, and why. What people and runs do with it now comes first. */
export function healthOf(node: KnownNode, { inRun, maintenance, behind }: AboutNode): Standing {
  const { status, errorMsg, clusterId, online } = node;
  const because = (health: Health, reason: string | null | undefined): Standing => ({
    health,
    ...(reason ? { reason } : {}),
  });
  const outOfService = outOfServiceOf(node);
  if (inRun?.running !== undefined) return because('running', inRun.running);
  if (maintenance !== undefined) return because('maintenance', maintenanceText(maintenance));
  if (inRun?.failed !== undefined) return because('failed', inRun.failed);
  if (outOfService === 'failed') return because('failed', errorMsg);
  if (UNDER_WAY.includes(status)) return because('running', status);
  if (outOfService !== null) return because('bare', errorMsg ?? 'never deployed');
  if (clusterId !== null && hasSystem(node) && !online) return because('silent', 'its agent does not answer');
  if (status === 'stopped') return because('drifted', 'its deployment was stopped');
  if (behind !== undefined) return because('drifted', behind);
  return { health: hasSystem(node) ? 'ok' : 'unknown' };
}

const UNDER_WAY: readonly string[] = ['deploying', 'provisioning', 'removing'];
