// What happens to claims and journals in seeds of the simulator, as modules of TLA+: `simulator-traces.ts SEEDS` writes a line of
// JSON with both. A process of its own, as the simulator takes over clock and chance.
import { withoutThreads } from '../../worker/parts/rehearsals/seams.ts';
import type { TraceEvent } from '../simulation/world/claim-trace.ts';
import { loadWithSmallLimits, withSmallLimits } from '../simulation/world/small-limits.ts';

type Trace = readonly TraceEvent[];

/** Modules by what they are about. The broken ones have a trace that lacks an event, which no model may accept. */
export interface TraceModules {
  readonly claim: string;
  readonly journal: string;
  readonly brokenClaim: string;
  readonly brokenJournal: string;
  readonly counts: { readonly claims: number; readonly journals: number; readonly events: number };
}

/** Sites and clusters in turn. */
async function tracesOf(
  seeds: number,
): Promise<{ readonly claims: readonly Trace[]; readonly journals: readonly Trace[] }> {
  withoutThreads();
  loadWithSmallLimits();
  const [{ bundleOurWorkflows }, { loadWorkflows }, { ACTIVITY_NAMES }, { simulateSite }, { simulateCluster }] =
    await Promise.all([
      import('../../worker/parts/workflow-bundle.ts'),
      import('@sitewright/temporal-simulator'),
      import('../../worker/parts/rehearsals/installation.ts'),
      import('../simulation/world/site-world.ts'),
      import('../simulation/world/cluster-world.ts'),
    ]);
  const code = await loadWorkflows((await bundleOurWorkflows({})).codePath, ACTIVITY_NAMES, withSmallLimits);
  const claims: Trace[] = [];
  const journals: Trace[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const { traces } = await (seed % 2 === 1 ? simulateSite : simulateCluster)(seed, code);
    claims.push(traces.claim);
    journals.push(...traces.journals);
  }
  return { claims, journals };
}

function tlaOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Set) return `{${[...value].map(tlaOf).join(', ')}}`;
  if (Array.isArray(value)) return `<<${value.map(tlaOf).join(', ')}>>`;
  const fields = Object.entries(value).map(([name, inner]) => `${name} |-> ${tlaOf(inner)}`);
  return `[${fields.join(', ')}]`;
}

function moduleOf(traces: readonly Trace[]): string {
  const all = traces.map((events) => `<<\n  ${events.map(tlaOf).join(',\n  ')}\n>>`);
  return `---- MODULE Traces ----\nTraces == <<\n${all.join(',\n')}\n>>\n====\n`;
}

/** The first trace that has the event, without it. */
function without(traces: readonly Trace[], what: string): readonly Trace[] {
  const found = traces.find((events) => events.some((event) => event.what === what));
  if (found === undefined) throw new Error(`no seed has the event ${what}`);
  const at = found.findIndex((event) => event.what === what);
  return [found.toSpliced(at, 1)];
}

const { claims, journals } = await tracesOf(Number(process.argv[2]));
const modules: TraceModules = {
  claim: moduleOf(claims),
  journal: moduleOf(journals),
  brokenClaim: moduleOf(without(claims, 'claim')),
  brokenJournal: moduleOf(without(journals, 'sync claim')),
  counts: {
    claims: claims.length,
    journals: journals.length,
    events: [...claims, ...journals].reduce((sum, { length }) => sum + length, 0),
  },
};
process.stdout.write(JSON.stringify(modules), () => process.exit(0));
