import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { installationFile } from '../../../src/platform/installation.ts';

interface Limit {
  readonly file: string;
  readonly is: string;
  readonly small: string;
}

/** Limits that only large worlds reach, and what they are here: a site of four nodes has slices, a graph of seven tasks has parts. */
const LIMITS: readonly Limit[] = [
  { file: 'workflows/site/call.ts', is: 'NODES_IN_ONE_WORKFLOW = 400;', small: 'NODES_IN_ONE_WORKFLOW = 3;' },
  { file: 'workflows/site/call.ts', is: 'NODES_PER_SLICE = 250;', small: 'NODES_PER_SLICE = 2;' },
  { file: 'src/core/graph-run/cut.ts', is: 'TASKS_IN_ONE_WORKFLOW = 1_170;', small: 'TASKS_IN_ONE_WORKFLOW = 9;' },
  { file: 'src/core/graph-run/cut.ts', is: 'PARTS_OF_ONE_RUN = 40;', small: 'PARTS_OF_ONE_RUN = 2;' },
  {
    file: 'src/core/graph-run/cut.ts',
    is: 'return work > Math.min(capacity, TASKS_IN_ONE_WORKFLOW);',
    small: 'return work > 30;',
  },
  { file: 'src/core/graph-run/history-capacity.ts', is: 'MAX_EVENTS = 10_000;', small: 'MAX_EVENTS = 260;' },
  { file: 'src/core/graph-run/history-capacity.ts', is: 'SPARE_EVENTS = 300;', small: 'SPARE_EVENTS = 60;' },
];

/** Outside workflows. A run that waits until its calendar opens would ask a thousand times. */
const ELSEWHERE: readonly Limit[] = [
  { file: 'activities/run/permits.ts', is: 'ASK_EVERY_MS = 3_000;', small: 'ASK_EVERY_MS = 14_000;' },
];

function reduced(text: string, { file, is, small }: Limit): string {
  if (text.split(is).length !== 2)
    throw new Error(`${file} no longer says '${is}': make the limit small in another way`);
  return text.replace(is, small);
}

/** The bundle of the workflows with small limits. */
export const withSmallLimits = (bundle: string): string => LIMITS.reduce(reduced, bundle);

/** Small limits in the modules that this process loads from now on. */
export function loadWithSmallLimits(): void {
  const byPath = new Map<string, Limit[]>();
  for (const limit of [...LIMITS, ...ELSEWHERE]) {
    const path = installationFile(limit.file);
    byPath.set(path, [...(byPath.get(path) ?? []), limit]);
  }
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const limits = url.startsWith('file:') ? byPath.get(fileURLToPath(url)) : undefined;
      if (limits === undefined) return loaded;
      return { ...loaded, source: limits.reduce(reduced, String(loaded.source)) };
    },
  });
}
