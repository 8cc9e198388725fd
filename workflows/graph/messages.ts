/**
 * Signals between a graph's run, the parts that it is split into, and their coordinator. Users may send them, too: one that could not
 * be processed would block the workflow.
 */
import * as z from 'zod/mini';
import type { Wire } from '../../src/core/contracts/wire.ts';
import { isMapping } from '../../src/core/data/plain-value.ts';
import { flag, limit, lineOf, optional, valueThat } from '../../src/core/data/schema.ts';
import type { PartStatus } from '../../src/core/graph-run/part-status.ts';
import type { SomeCounts, TaskCounts } from '../../src/core/graph-run/task-counts.ts';
import { MAX } from '../../src/core/run/description.ts';
import { type ReadRequest, readRequest } from '../../src/core/run/operator.ts';
import type { FromPart, PartEnd, ToPart } from '../../src/core/scheduler/part-messages.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import type { TaskOnNode } from '../../src/core/task-on-node.ts';

const name = lineOf(MAX.name);
const names = z.array(name);
const yes = z.literal(true);
const offline = z.strictObject({ offline: names });
const messages = <M extends FromPart | ToPart>() =>
  z.array(valueThat<M>((value) => isMapping(value) && Number.isSafeInteger(value.seq), 'must be a message of a part'));
const ofPart = <T extends object>(what: string) =>
  z.array(valueThat<T>((value) => isMapping(value) || Array.isArray(value), what));
const status = (what: string) =>
  valueThat<PartStatus>((value) => isMapping(value) && isMapping(value.counts), `must be the status of ${what}`);

/** See `Sender`. */
const sender = z.strictObject({ run: name, at: limit, ...optional({ after: names }) });

/** Of operators, about the whole run; as it is now. */
const steering = z.strictObject({
  paused: flag,
  /** Stopped or cancelled. */
  stops: flag,
  /** Its parts are cancelled. */
  cancelled: flag,
  /** Names of tasks. */
  approved: names,
});
export type Steering = Wire<typeof steering>;

/** Of an operator, about a task. */
export interface PartRequest extends TaskOnNode {
  readonly id: string;
  readonly type: 'retry_task' | 'skip_task';
}

/** Payload of `from_part`: messages of a child since its last signal. Signals may arrive out of order. */
const fromPart = z.strictObject({
  /** Transaction of the graph, to recognize a late signal of an earlier graph. */
  graph: limit,
  part: limit,
  /** First run of the child: a child of the same id that a reset has replaced may still be heard. */
  run: name,
  /** Counts up from 1. */
  seq: limit,
  messages: messages<FromPart>(),
  news: status('a part'),
  ...optional({
    /** The execution that sends, and which one it continues as new. Absent: sent by hand. */
    by: z.strictObject({ run: name, ...optional({ after: name }) }),
    /** Sent once: the child has loaded its part, and these of its nodes do not answer. */
    ready: offline,
    /** Sent once by each continued-as-new run of the child. */
    continued: yes,
  }),
});
export type FromPartSignal = Wire<typeof fromPart>;

/** Payload of `to_part`. */
const toPart = z.strictObject({
  by: sender,
  messages: messages<ToPart>(),
  ...optional({
    /** The run is stopped: a part that has not begun waits for no agent any more. */
    stop: yes,
  }),
});
export type ToPartSignal = Wire<typeof toPart>;

/** What a run tells the coordinator of the parts of its graph, if that has a workflow of its own. */
const toCoordinator = z.strictObject({
  graph: limit,
  by: sender,
  steering,
  /** `[part, first run]` of those that were started. */
  started: ofPart<readonly [number, string]>('must be a part and its run'),
  /** Of the parts that have ended; no `end`: not because they were told to. */
  ended: ofPart<{ readonly part: number; readonly counts: TaskCounts; readonly end?: PartEnd }>(
    'must be the end of a part',
  ),
  asked: ofPart<PartRequest>('must be a request'),
  /** To be answered when every part has processed the requests so far. */
  acknowledge: names,
});
export type ToCoordinatorSignal = Wire<typeof toCoordinator>;

/** What the coordinator tells its run. */
const fromCoordinator = z.strictObject({
  graph: limit,
  /** Of all parts together. */
  status: status('all parts'),
  /** By part: counts that have changed, without zeros. */
  counts: ofPart<readonly [number, SomeCounts]>('must be a part and its counts'),
  /** Nothing runs, and nothing starts without an operator. */
  quiet: flag,
  answers: ofPart<readonly [id: string, rejection: Rejection | null]>('must be an answer'),
  /** `[part, it has continued as new]` of those that go on in another execution. */
  moved: ofPart<readonly [number, boolean]>('must be a part'),
  ...optional({
    /** Once all parts have begun. */
    started: offline,
  }),
});
export type FromCoordinatorSignal = Wire<typeof fromCoordinator>;

export const readFromPart = (payload: unknown): ReadRequest<FromPartSignal> => readRequest(fromPart, payload);
export const readToCoordinator = (payload: unknown): ReadRequest<ToCoordinatorSignal> =>
  readRequest(toCoordinator, payload);
export const readFromCoordinator = (payload: unknown): ReadRequest<FromCoordinatorSignal> =>
  readRequest(fromCoordinator, payload);
export const readToPart = (payload: unknown): ReadRequest<ToPartSignal> => readRequest(toPart, payload);
