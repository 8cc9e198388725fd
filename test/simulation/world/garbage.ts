import { ForeignPayload, type Random } from '@sitewright/temporal-simulator';

/** Messages that only workflows and workers send, and a name that no one knows. */
const INTERNAL = ['call_progress', 'graph_news', 'from_part', 'maas_silence', 'child_gone', 'puase'];
const STEERING = ['pause', 'resume', 'stop', 'approve', 'reject', 'retry_node', 'retry_task'];

const PAYLOADS: readonly (readonly unknown[])[] = [
  ...[[], [null], [7], ['x', 'y'], [[]], [{ by: 5 }]],
  ...[[{ before: 7, node: 3, task: {} }], [{ id: 'no-one' }], [{ slice: 'none', started: [7], finished: [[]] }]],
  // Of a program with a converter, or a codec, of its own.
  ...[[new ForeignPayload('json/plain', '{"by": "ann')], [new ForeignPayload('binary/encrypted', '\u0001\u0002')]],
];

/** What someone sends to a run by mistake: by Temporal's own tools anyone can send anything. */
export interface Garbage {
  readonly name: string;
  readonly payload: readonly unknown[];
}

/** @param isInternal only names that steer nothing: what is wrong in them has no effect */
export const garbageFrom = (own: Random, isInternal: boolean): Garbage => ({
  name: own.pick(isInternal ? INTERNAL : [...INTERNAL, ...STEERING]),
  payload: own.pick(PAYLOADS),
});
