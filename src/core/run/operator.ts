import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { isMapping } from '../data/plain-value.ts';
import { checkFields, lineOf, optional } from '../data/schema.ts';
import { MAX, noteFields } from './description.ts';
import { describeFields } from './input.ts';

/** Who made a request, and why. Every field is optional. */
export const operatorNote = z.strictObject(noteFields);
export type OperatorNote = Wire<typeof operatorNote>;

/** An operator approves or rejects. */
export const approvalRequest = z.strictObject({
  ...noteFields,
  /** One of `hold_before`, also in advance. Absent: all that wait now. */
  ...optional({ before: lineOf(MAX.name) }),
});
export type ApprovalRequest = Wire<typeof approvalRequest>;

/** Of `retry_node`. */
export const retryNode = z.strictObject({ ...noteFields, node: lineOf(MAX.name) });
export type RetryNodeRequest = Wire<typeof retryNode>;

/** An operator's action on a run, as stored in its report. */
export interface OperatorAction<Action extends string> extends OperatorNote {
  readonly action: Action;
  readonly at: string;
  /** Of `approve` and `reject`: the decided entry. */
  readonly before?: string;
  /** Of requests to rollouts. */
  readonly group?: string;
  readonly limit?: number;
  readonly recheck?: boolean;
}

/** Payload of an operator's signal or update. */
export interface ReadRequest<R> {
  /** The fields that fit. Absent when a required one is missing or wrong. */
  readonly request?: R;
  /** A sentence for each field that does not fit. */
  readonly problems: readonly string[];
}

/** Reads a request, in which every field that does not fit is a problem. A text alone is its reason. */
export function readRequest<S extends z.core.$ZodType>(schema: S, raw: unknown): ReadRequest<Wire<S>> {
  const given = typeof raw === 'string' ? { reason: raw } : (raw ?? {});
  if (!isMapping(given)) return { ...fitting(schema, {}), problems: ['the payload must be one JSON object'] };
  const sent = Object.entries(given).filter(([, value]) => value !== '');
  const read = checkFields(schema, Object.fromEntries(sent));
  if (read.ok) return { request: read.value, problems: [] };
  const unfit = new Set(read.problems.map(({ path }) => path[0]));
  const rest = sent.filter(([name]) => !unfit.has(name));
  return { ...fitting(schema, Object.fromEntries(rest)), problems: describeFields(read.problems) };
}

function fitting<S extends z.core.$ZodType>(schema: S, fields: object): { readonly request?: Wire<S> } {
  const read = checkFields(schema, fields);
  return read.ok ? { request: read.value } : {};
}
