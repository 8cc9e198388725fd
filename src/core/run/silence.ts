import { objectOf, type Shape, valueThat } from '../data/shape.ts';
import { type ReadRequest, readRequest } from './operator.ts';

/** Observations of a worker about MAAS while steps of a run ask it. */
export interface MaasSilence {
  /** ISO 8601, in UTC. Null: it answers, or nothing asks it. */
  readonly since: string | null;
}

const shape: Shape<MaasSilence> = objectOf<MaasSilence>(
  {
    since: valueThat(
      (value) => value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value))),
      'must be a time or null',
    ),
  },
  ['since'],
);

export const readSilence = (payload: unknown): ReadRequest<MaasSilence> => readRequest(shape, payload);

/** @param since ISO 8601, in UTC */
export const describeSilence = (since: string): string => `MAAS has not answered since ${since.slice(11, 16)} UTC`;
