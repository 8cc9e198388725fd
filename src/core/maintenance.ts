/** Why a node is in maintenance, since when, and who says so: people work on it, and runs leave it out. */
export interface MaintenanceNote {
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
  readonly by: string;
}

/** Continues a sentence about the node: `in maintenance since 2026-03-01 09:30 UTC (alice: a broken disk)`. */
export const maintenanceText = ({ reason, since, by }: MaintenanceNote): string =>
  `in maintenance since ${since.slice(0, 16).replace('T', ' ')} UTC (${by}: ${reason})`;
