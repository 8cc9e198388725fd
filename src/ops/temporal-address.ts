import type { OpsDependencies } from './dependencies.ts';

/**
 * The address of something in Temporal's Web UI, below its namespace: `workflows`, id and run; `schedules` and id;
 * `task-queues` and name. Null if no UI is configured.
 */
export function temporalAddress(
  { temporalUiUrl, temporal }: Pick<OpsDependencies, 'temporalUiUrl' | 'temporal'>,
  ...path: readonly string[]
): string | null {
  if (temporalUiUrl === undefined) return null;
  const parts = ['namespaces', temporal.namespace, ...path];
  return [temporalUiUrl.replace(/\/$/, ''), ...parts.map(encodeURIComponent)].join('/');
}
