import type { NodeReport } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import type { BaremetalState } from '../deployment/progress.ts';
import { recordNodes } from '../deployment/report.ts';
import type { SiteRunKind, SiteRunOutcome } from '../words.ts';
import { MAX_NAMES, redeployCommand } from './failure.ts';
import type { NodeWrite } from './report.ts';

interface OfRun {
  readonly kind: SiteRunKind;
  readonly input: { readonly site: string; readonly nodes?: readonly string[] };
  readonly baremetal?: BaremetalState;
  readonly released?: readonly NodeReport[];
  readonly outcome?: SiteRunOutcome;
}

/**
 * The nodes of a redeployment that are not in service again. A further one releases whatever it names, so it must not
 * name those that are.
 */
export function leftToRedeploy({ kind, input, baremetal }: OfRun): readonly string[] {
  if (kind !== 'redeploy_nodes') return [];
  const back = new Set((baremetal?.nodes ?? []).flatMap(({ name, state }) => (state === 'success' ? [name] : [])));
  return (input.nodes ?? []).filter((name) => !back.has(name));
}

/**
 * Results of the nodes that a run released. If the run ended before it deployed one again, its release alone
 * is no success: the machine is out of service.
 */
export function reportReleased(progress: OfRun): NodeReport[] {
  const { released = [], baremetal, outcome } = progress;
  // A failed run names its failure, and the next step for these nodes.
  if (outcome === undefined || outcome === 'failed') return [...released];
  const left = new Set(leftToRedeploy(progress));
  const failed = new Set((baremetal?.nodes ?? []).flatMap(({ name, state }) => (state === 'failed' ? [name] : [])));
  const isBare = (node: NodeReport, reason: string): NodeReport => ({
    ...node,
    state: 'failed',
    failure_kind: NOT_REDEPLOYED,
    reason,
    ...hintFor(progress, left, node.name),
  });
  return released.map((node) => {
    if (node.state === 'waiting' && node.attempts === 0) return { ...node, state: 'not_reached' };
    if (!left.has(node.name)) return node;
    if (node.state === 'waiting')
      return isBare(node, 'its release had begun, and goes on in MAAS: the machine is bare, or soon will be');
    if (node.state !== 'success') return node;
    return isBare(node, failed.has(node.name) ? 'released, and not deployed again' : 'released and still bare');
  });
}

/** How the release of a machine is reported that the run did not deploy again. */
export const NOT_REDEPLOYED = 'not-redeployed';

/** The next step, unless a report with all of them would be too long. */
const hintFor = ({ input }: OfRun, left: ReadonlySet<string>, name: string) =>
  left.size > MAX_NAMES ? {} : { hint: `deploy it: ${redeployCommand(input.site, [name])}` };

/**
 * Records of nodes after their release. A redeployment has not done its work on them yet. They leave their place in the plan, which a
 * reset of the run may have taken from them after it was recorded.
 */
export const releasedRecords = (kind: SiteRunKind, released: readonly NodeReport[]): NodeWrite[] =>
  released.map((node) => ({
    report:
      kind === 'redeploy_nodes' && node.state === 'success'
        ? { ...node, state: 'waiting', reason: 'its machine was released and is bare until it is deployed again' }
        : node,
    position: null,
    released: node,
  }));

/** Records of every node of the run as it is now. */
export function recordsOf(progress: OfRun): NodeWrite[] {
  const records = new Map<string, NodeWrite>();
  for (const record of releasedRecords(progress.kind, reportReleased(progress)))
    records.set(record.report.name, record);
  for (const { position, report } of progress.baremetal ? recordNodes(progress.baremetal) : []) {
    const { released } = records.get(report.name) ?? {};
    const { reason, hint } = released?.failure_kind === NOT_REDEPLOYED ? released : {};
    records.set(report.name, { ...given({ released }), position, report: { ...given({ reason, hint }), ...report } });
  }
  return [...records.values()];
}
