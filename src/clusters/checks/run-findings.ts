import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { ClusterSources } from '../sources.ts';
import { type ClusterFinding, checkCluster } from './check-cluster.ts';

/** One of the graphs that a run executes. */
interface GraphToRun {
  readonly type: string;
  readonly nodes?: readonly number[];
  readonly tasks?: readonly string[];
}

/**
 * Findings about a cluster for a run of these graphs; errors refuse it, unless it is forced. Offline nodes and limits
 * matter only to a deployment of the whole cluster: a graph of another type, or for chosen nodes or tasks, may run on an
 * incomplete cluster.
 */
export function findingsForRun(sources: ClusterSources, graphs: readonly GraphToRun[]): readonly Diagnostic[] {
  const deploys = graphs.some(
    ({ type, nodes, tasks }) => type === 'default' && nodes === undefined && (tasks ?? []).length === 0,
  );
  const chosen = graphs.every(({ nodes }) => nodes !== undefined)
    ? { nodes: graphs.flatMap(({ nodes = [] }) => nodes) }
    : {};
  return checkCluster(sources, chosen)
    .map(diagnosticOf)
    .map((found) =>
      found.severity === 'error' && !deploys && OF_WHOLE_CLUSTERS.includes(found.code)
        ? { ...found, severity: 'warning' }
        : found,
    );
}

/** A finding without the data that pages of a cluster use. */
export const diagnosticOf = ({ nodes: _nodes, role: _role, tags: _tags, ...finding }: ClusterFinding): Diagnostic =>
  finding;

const OF_WHOLE_CLUSTERS = ['check.nodes-offline', 'check.role-below-minimum', 'check.role-above-maximum'];
