import type { TraceEvent } from './claim-trace.ts';

/** What became of a seed. */
export interface Verdict {
  readonly seed: number;
  readonly story: readonly string[];
  readonly violation: string | null;
  /** Of the whole story: the same seed gives the same. */
  readonly digest: string;
  readonly events: number;
  readonly turns: number;
  readonly replays: number;
  readonly changes: number;
  readonly simulatedMs: number;
  readonly outcomes: readonly string[];
  readonly actions: Readonly<Record<string, number>>;
  /** How often what happened in which state: `state × what`. */
  readonly reached: Readonly<Record<string, number>>;
  /** Parts of its script, each of which may be left out. */
  readonly parts: readonly string[];
  /** What happened, for the models in test/models: to the claim, and to the attempts of each task of each node. */
  readonly traces: { readonly claim: readonly TraceEvent[]; readonly journals: readonly (readonly TraceEvent[])[] };
}
