import type { SerializationContext } from '@temporalio/common';

/**
 * Where a payload belongs: namespace, workflow id and activity id, as far as its writer knew them. One that knew less has
 * written it for all places that begin so.
 */
export type PayloadPlace = readonly string[];

/** What the server appends to the ids of runs that a schedule starts. Their input is written before it is known. */
const SCHEDULED_AT = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Undefined: the caller does not know it. */
export function placeOf(context: SerializationContext | undefined): PayloadPlace | undefined {
  if (context === undefined) return undefined;
  const { namespace, workflowId } = context;
  if (workflowId === undefined) return [namespace];
  const workflow = [namespace, workflowId.replace(SCHEDULED_AT, '')];
  return context.type === 'activity' && context.activityId !== undefined ? [...workflow, context.activityId] : workflow;
}

/** @param text authenticated, as `JSON.stringify` wrote it */
export const placeFromText = (text: string): PayloadPlace => JSON.parse(text) as string[];
