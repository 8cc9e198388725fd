import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { valueThat } from '../data/schema.ts';
import { type ReadRequest, readRequest } from './operator.ts';

/** Observations of a worker about MAAS while steps of a run ask it. */
const maasSilence = z.strictObject({
  /** ISO 8601, in UTC. Null: it answers, or nothing asks it. */
  since: valueThat<string | null>(
    (value) => value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value))),
    'must be a time or null',
  ),
});
export type MaasSilence = Wire<typeof maasSilence>;

export const readSilence = (payload: unknown): ReadRequest<MaasSilence> => readRequest(maasSilence, payload);
