import type { ShownPlan } from '../contracts/site-run.ts';
import type { BaremetalReport, NodeReport, RunReport } from '../contracts/site-run-report.ts';
import { namesByState } from '../deployment/report.ts';
import { utf8Length } from '../text/text.ts';
import { fromRanges, type IndexRanges } from './plan.ts';

/** Payloads are limited to 200 KB (docs/explain/design.md#limits). Half of it leaves space for the envelope and for growth. */
const REPORT_LIMIT_BYTES = 100_000;

/** A node as a run records it, and as the store has it. */
export interface NodeRecord {
  /** In the plan's list of nodes; null for a node that the run only released. */
  readonly position: number | null;
  readonly report: NodeReport;
  /** How its release ended. */
  readonly released: NodeReport | null;
}

/** Absent fields keep their recorded values. */
export type NodeWrite = Pick<NodeRecord, 'report'> & Partial<NodeRecord>;

/** The same for the same nodes in the same states, whatever their order. A number in hexadecimal digits, not a secret. */
export function digestOfRecords(records: readonly NodeWrite[]): string {
  const lines = records.map(({ report, released }) =>
    JSON.stringify([report.name, report.state, report.attempts, report.reason ?? '', released?.state ?? '']),
  );
  let digest = 0x811c9dc5;
  for (const line of lines.sort())
    for (let at = 0; at < line.length; at += 1) digest = Math.imul(digest ^ line.charCodeAt(at), 0x01000193);
  return (digest >>> 0).toString(16);
}

/** Positions of the nodes of each group, as the plan has them. */
export type Members = readonly IndexRanges[];

/**
 * Fits the report of an open run into `limit` bytes. First drops the nodes of groups and states and what was released, then
 * nodes: failed nodes are kept longest, then running ones, then those that ended last. `assembleReport` puts them in again.
 */
export function fitReport(report: RunReport, members: Members, limit: number = REPORT_LIMIT_BYTES): RunReport {
  if (utf8Length(JSON.stringify(report)) <= limit) return report;
  const outline = outlineReport(report, members);
  const ranked = [...(report.baremetal?.nodes ?? [])].sort(
    (a, b) => rank(a) - rank(b) || Number(endOf(a) < endOf(b)) - Number(endOf(a) > endOf(b)),
  );
  const kept: NodeReport[] = [];
  let size = utf8Length(JSON.stringify(outline));
  for (const node of ranked) {
    size += utf8Length(JSON.stringify(node)) + 1;
    if (size > limit) break;
    kept.push(node);
  }
  return {
    ...outline,
    ...(outline.baremetal && { baremetal: { ...outline.baremetal, nodes: kept } }),
    cut: { nodes_omitted: ranked.length - kept.length, members },
  };
}

/** The report without any node, whatever its size; the store has the nodes. */
export function outlineReport(report: RunReport, members: Members): RunReport {
  const { baremetal, released } = report;
  return {
    ...report,
    ...(baremetal && {
      baremetal: {
        ...baremetal,
        nodes: [],
        groups: baremetal.groups.map((group) => ({ ...group, nodes: [] })),
        nodes_by_state: namesByState([]),
      },
    }),
    ...(released && { released: [] }),
    cut: { nodes_omitted: baremetal?.nodes.length ?? 0, members },
  };
}

/**
 * The whole report, from its outline and the recorded nodes. A node that the cut report has is newer than its record. A node of
 * an open run without a record waits if the plan names it, and stays omitted otherwise.
 */
export function assembleReport(
  report: RunReport,
  recorded: readonly NodeRecord[],
  plan: Planned | null = null,
): RunReport {
  const { cut, ...rest } = report;
  if (cut === undefined) return report;
  const { baremetal } = rest;
  const records = [...recorded, ...unrecorded(recorded, plan)];
  const released = records.flatMap((record) => record.released ?? []);
  const nodes = baremetal === undefined ? [] : merged(baremetal.nodes, records);
  const omitted = (baremetal?.nodes.length ?? 0) + cut.nodes_omitted - nodes.length;
  return {
    ...rest,
    ...(baremetal && { baremetal: withNodes(baremetal, nodes, namesAt(records), cut.members) }),
    ...(rest.released && { released }),
    ...(omitted > 0 && { cut: { ...cut, nodes_omitted: omitted } }),
  };
}

type Planned = Pick<ShownPlan, 'nodes' | 'done' | 'total'>;

/** Nodes of a plan without a record. A plan that was too long to be shown has no positions to trust. */
function unrecorded(records: readonly NodeRecord[], plan: Planned | null): readonly NodeRecord[] {
  if (plan === null || plan.nodes.length < plan.total) return [];
  const known = new Set(records.map(({ report }) => report.name));
  return waitingNodes(plan).flatMap((report, position) =>
    known.has(report.name) ? [] : [{ position, report, released: null }],
  );
}

function waitingNodes({ nodes, done }: Planned): readonly NodeReport[] {
  const isDone = new Set(done);
  return nodes.map((name) => ({ name, state: isDone.has(name) ? 'success' : 'waiting', attempts: 0 }));
}

/** Every node of an open run. Until groups start, they are the plan's and those that the run releases. */
export function nodesOfRun(
  { kind, baremetal, released = [] }: Pick<RunReport, 'kind' | 'baremetal' | 'released'>,
  plan: Planned | null,
): readonly NodeReport[] {
  if (baremetal !== undefined) {
    const known = new Set(baremetal.nodes.map(({ name }) => name));
    return [...baremetal.nodes, ...released.filter(({ name }) => !known.has(name))];
  }
  const known = new Set(released.map(({ name }) => name));
  const planned = plan === null || kind === 'test_site' ? [] : waitingNodes(plan);
  return [...planned.filter(({ name }) => !known.has(name)), ...released];
}

function merged(kept: readonly NodeReport[], records: readonly NodeRecord[]): NodeReport[] {
  const newer = new Map(kept.map((node) => [node.name, node]));
  const planned = records.filter(({ position }) => position !== null).sort((a, b) => a.position! - b.position!);
  const nodes = planned.map(({ report }) => newer.get(report.name) ?? report);
  const known = new Set(nodes.map(({ name }) => name));
  return [...nodes, ...kept.filter(({ name }) => !known.has(name))];
}

const namesAt = (records: readonly NodeRecord[]): ReadonlyMap<number | null, string> =>
  new Map(records.map(({ position, report }) => [position, report.name]));

const withNodes = (
  baremetal: BaremetalReport,
  nodes: readonly NodeReport[],
  nameAt: ReadonlyMap<number | null, string>,
  members: Members,
): BaremetalReport => ({
  ...baremetal,
  nodes: [...nodes],
  nodes_by_state: namesByState(nodes),
  groups: baremetal.groups.map((group, at) => ({
    ...group,
    nodes: fromRanges(members[at] ?? []).flatMap((position) => nameAt.get(position) ?? []),
  })),
});

function rank(node: NodeReport): number {
  if (node.state === 'failed') return 0;
  return node.running ? 1 : 2;
}

/** An older end is recorded by now. */
const endOf = ({ ended_at: end }: NodeReport): string => end ?? '';
