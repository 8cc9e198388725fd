import type { Run } from '../core/contracts/index.ts';

/** How people call a run: by its number; by its id before a worker has opened it. */
export const numberOf = ({ number, id }: Pick<Run, 'number' | 'id'>): string => String(number ?? id);

/** The subject of a run: a site, or the cluster in its workflow id. */
export function subjectOf({ site, workflow_id }: Pick<Run, 'site' | 'workflow_id'>): string {
  const [kind, cluster] = workflow_id.split(':');
  return site ?? (kind === 'execute_graph' ? `cluster ${cluster}` : '?');
}
