import type { Run } from '../core/contracts/index.ts';

/** The subject of a run: a site, or the cluster in its workflow id. */
export function subjectOf({ site, workflow_id }: Pick<Run, 'site' | 'workflow_id'>): string {
  const [kind, cluster] = workflow_id.split(':');
  return site ?? (kind === 'execute_graph' ? `cluster ${cluster}` : '?');
}
