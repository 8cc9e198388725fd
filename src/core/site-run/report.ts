import type { BaremetalReport, NodeReport, RunReport } from '../contracts/site-run-report.ts';
import { namesByState } from '../deployment/index.ts';
import { utf8Length } from '../text/text.ts';

/** Payloads are limited to 200 KB (docs/design.md#limits). Half of it leaves space for the envelope and for growth. */
const REPORT_LIMIT_BYTES = 100_000;

/**
 * Fits the report into `limit` bytes. First drops the node lists of groups and states (each node names its group),
 * then nodes: failed nodes are kept longest, then running ones.
 */
export function fitReport(report: RunReport, limit: number = REPORT_LIMIT_BYTES): RunReport {
  if (utf8Length(JSON.stringify(report)) <= limit || !report.baremetal) return report;
  const { baremetal } = report;
  const bare: BaremetalReport = {
    ...baremetal,
    groups: baremetal.groups.map((group) => ({ ...group, nodes: [] })),
    nodes_by_state: namesByState([]),
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
  if (node.state === 'failed') return 0;
  return node.running ? 1 : 2;
}
