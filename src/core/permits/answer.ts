import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { optional, text, texts, time, whole } from '../data/schema.ts';

/** `turn`: it may be touched, but another run comes first. */
export const PERMIT_WAITS = ['out_of_service', 'at_once', 'window', 'freeze', 'turn'] as const;

/** What machines of a run wait for. */
const permitWait = z.object({
  kind: z.enum(PERMIT_WAITS),
  /** The limit, in words. */
  limit: text,
  /** How many machines wait for it. */
  machines: whole,
  /** Who has what they wait for: machines and runs, the first of them. */
  behind: texts,
  /** ISO 8601: since when the run waits. */
  since: time,
  ...optional({
    /** ISO 8601: when it is over, where that is known. */
    until: time,
  }),
});
export type PermitWait = Wire<typeof permitWait>;

/** Nodes whose permits a run needs no more, by what has become of them. */
export interface ReturnedPermits {
  readonly done: readonly number[];
  readonly failed: readonly number[];
  /** Nothing has touched them, or they wait for others. */
  readonly unused: readonly number[];
}

export const permitAnswer = z.object({
  /** Names of machines. */
  granted: texts,
  waits: z.array(permitWait),
});
export type PermitAnswer = Wire<typeof permitAnswer>;
