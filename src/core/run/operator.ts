import { isMapping } from '../data/plain-value.ts';
import { checkShape, objectOf, type Shape } from '../data/shape.ts';
import { noteFields } from './description.ts';
import { describeFields } from './input.ts';

/** Who made a request, and why. Every field is optional. */
export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
  /** Entry of the audit trail with which an API passes it on. Absent: it came another way, and `by` is a claim. */
  readonly entry?: string;
}

/** An operator's action on a run, as stored in its report. */
export interface OperatorAction<Action extends string> extends OperatorNote {
  readonly action: Action;
  readonly at: string;
  /** Of `approve` and `reject`: the decided entry. */
  readonly before?: string;
  /** Of requests to rollouts. */
  readonly group?: string;
  readonly limit?: number;
}

export const operatorNote = objectOf<OperatorNote>(noteFields);

/** Payload of an operator's signal or update. */
export interface ReadRequest<R> {
  /** The fields that fit. Absent when a required one is missing or wrong. */
  readonly request?: R;
  /** A sentence for each field that does not fit. */
  readonly problems: readonly string[];
}

/** Reads a request, in which every field that does not fit is a problem. A text alone is its reason. */
export function readRequest<R>(shape: Shape<R>, raw: unknown): ReadRequest<R> {
  const given = typeof raw === 'string' ? { reason: raw } : (raw ?? {});
  if (!isMapping(given)) return { ...fitting(shape, {}), problems: ['the payload must be one JSON object'] };
  const sent = Object.entries(given).filter(([, value]) => value !== '');
  const found = shape.problems(Object.fromEntries(sent), []);
  const unfit = new Set(found.map(({ path }) => path[0]));
  const rest = sent.filter(([name]) => !unfit.has(name));
  return { ...fitting(shape, Object.fromEntries(rest)), problems: describeFields(found) };
}

function fitting<R>(shape: Shape<R>, fields: object): { readonly request?: R } {
  const read = checkShape(shape, fields);
  return read.ok ? { request: read.value } : {};
}
