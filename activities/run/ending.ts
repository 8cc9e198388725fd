import type { Store } from '../../src/store/index.ts';

interface Asked {
  readonly action: string;
  readonly at: string;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

/**
 * The actions of operators on a run, with who cancelled it and why. A cancellation reaches a workflow without either; the audit
 * trail has them, unless someone cancelled it with Temporal's tools.
 */
export async function withCanceller<Action extends Asked>(
  store: Store,
  run: string,
  actions: readonly Action[],
): Promise<Action[]> {
  if (!actions.some(isUnsigned)) return [...actions];
  const { items } = await store.audit.list({ target: `run/${run}`, action: 'run.cancel', limit: 1 });
  const [entry] = items;
  if (entry === undefined) return [...actions];
  const { actor: by, reason } = entry;
  return actions.map((one) => (isUnsigned(one) ? { ...one, by, ...(reason !== null && { reason }) } : one));
}

const isUnsigned = ({ action, by }: Asked): boolean => action === 'cancel' && by === undefined;

/** How a run ended, and by whom, to go on from "the run": "was cancelled by alice". */
export function endingText(outcome: string, actions: readonly Asked[]): string {
  const asked = actions.findLast(({ action }) => ENDING.includes(action));
  const by = asked?.by === undefined ? '' : ` by ${asked.by}`;
  const why = asked?.reason === undefined ? '' : ` (${asked.reason})`;
  if (outcome === 'cancelled' || outcome === 'stopped') return `was ${outcome}${by}${why}`;
  return outcome === 'failed' ? 'failed' : 'ended';
}

const ENDING: readonly string[] = ['cancel', 'stop', 'reject'];
