import type { BaremetalReport, NodeReport } from '../deployment/index.js';
import type { SiteOperatorAction, SiteRunOutcome } from '../run/index.js';
import { utf8Length } from '../utf8.js';
import type { RunFailure } from './failure.js';
import type { SiteRunKind } from './input.js';

export const PHASE_NAMES = [
  'load',
  'verify_site',
  'prepare_site',
  'release',
  'baremetal',
  'release_removed',
  'inspect_nodes',
  'software',
] as const;
export type PhaseName = (typeof PHASE_NAMES)[number];

export const PHASE_STATES = ['running', 'success', 'failure', 'skipped', 'stopped'] as const;
export type PhaseState = (typeof PHASE_STATES)[number];

export interface PhaseReport {
  readonly name: PhaseName;
  readonly state: PhaseState;
  readonly started_at: string;
  readonly ended_at?: string;
  /** Why it was skipped or failed, or what it found. */
  readonly detail?: string;
}

/** What happened in a run, to every group and node, and why. */
export interface RunReport {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly revision?: number;
  readonly hash?: string;
  /** Absent while the run goes on. */
  readonly outcome?: SiteRunOutcome;
  readonly failure?: RunFailure;
  /** The failure in one sentence, and what to do about it. */
  readonly reason?: string;
  readonly next_step?: string;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly started_by?: string;
  readonly phases: readonly PhaseReport[];
  readonly baremetal?: BaremetalReport;
  /** redeploy_nodes and update_site: what became of released nodes. */
  readonly released?: readonly NodeReport[];
  /** update_site: nodes that the last good revision had and this one has not. */
  readonly removed_nodes?: readonly string[];
  readonly operator: readonly SiteOperatorAction[];
  readonly warnings: readonly string[];
  /** Set when lists were cut to keep a payload small: the full report is in the store. */
  readonly cut?: { readonly nodes_omitted: number };
}

/** No payload over 200 KB (design §5); half of it leaves room for the envelope and for growth. */
export const REPORT_LIMIT_BYTES = 100_000;

/**
 * The report within `limit` bytes: first the groups' and states' node lists go (the nodes name their
 * group), then nodes from the end of the order failed, running, the rest, so that failures stay longest.
 */
export function fitReport(report: RunReport, limit: number = REPORT_LIMIT_BYTES): RunReport {
  if (utf8Length(JSON.stringify(report)) <= limit || !report.baremetal) return report;
  const { baremetal } = report;
  const bare: BaremetalReport = {
    ...baremetal,
    groups: baremetal.groups.map((group) => ({ ...group, nodes: [] })),
    nodes_by_state: { not_started: [], prepared: [], success: [], failure: [] },
  };
  const ranked = [...baremetal.nodes].sort((a, b) => rank(a) - rank(b));
  const base = utf8Length(JSON.stringify({ ...report, baremetal: { ...bare, nodes: [] } })) + 64;
  const kept: NodeReport[] = [];
  let size = base;
  for (const node of ranked) {
    size += utf8Length(JSON.stringify(node)) + 1;
    if (size > limit) break;
    kept.push(node);
  }
  return { ...report, baremetal: { ...bare, nodes: kept }, cut: { nodes_omitted: ranked.length - kept.length } };
}

function rank(node: NodeReport): number {
  if (node.state === 'failure') return 0;
  return node.running ? 1 : 2;
}
