import { isMapping } from '../src/core/data/plain-value.ts';
import { limit, lineOf, listOf, objectOf, type Shape, valueThat } from '../src/core/data/shape.ts';
import type { PartStatus } from '../src/core/graph-run/index.ts';
import { MAX } from '../src/core/run/description.ts';
import { type ReadRequest, readRequest } from '../src/core/run/index.ts';
import type { FromPart, ToPart } from '../src/core/scheduler/index.ts';

/** Payload of `from_part`: messages of a child since its last signal. Signals may arrive out of order. */
export interface FromPartSignal {
  /** Transaction of the graph, to recognize a late signal of an earlier graph. */
  readonly graph: number;
  readonly part: number;
  /** Counts up from 1. */
  readonly seq: number;
  /** Number of the parent's last message that the child has processed. */
  readonly processed: number;
  /** Sent once: the child has loaded its part, and these of its nodes do not answer. */
  readonly ready?: { readonly offline: readonly string[] };
  /** Sent once by each continued-as-new run of the child. */
  readonly continued?: true;
  readonly messages: readonly FromPart[];
  readonly news: PartStatus;
}

/** Payload of `to_part`. */
export interface ToPartSignal {
  readonly messages: readonly ToPart[];
}

/** Users may send these signals, too. One that could not be processed would block the workflow. */
const messages = <M extends FromPart | ToPart>(): Shape<readonly M[]> =>
  listOf(valueThat<M>((value) => isMapping(value) && Number.isSafeInteger(value.seq), 'must be a message of a part'));

const fromPart = objectOf<FromPartSignal>(
  {
    graph: limit,
    part: limit,
    seq: limit,
    processed: limit,
    ready: objectOf({ offline: listOf(lineOf(MAX.name)) }),
    continued: valueThat<true>((value) => value === true, 'must be true'),
    messages: messages(),
    news: valueThat((value) => isMapping(value) && isMapping(value.counts), 'must be the status of a part'),
  },
  ['graph', 'part', 'seq', 'processed', 'messages', 'news'],
);
const toPart = objectOf<ToPartSignal>({ messages: messages() }, ['messages']);

export const readFromPart = (payload: unknown): ReadRequest<FromPartSignal> => readRequest(fromPart, payload);
export const readToPart = (payload: unknown): ReadRequest<ToPartSignal> => readRequest(toPart, payload);

/**
 * Sends one signal at a time. Each costs a round trip to the server, so whatever collects meanwhile is sent
 * with the next signal.
 */
export interface Courier {
  /** Sends the due message: now, or after the signal that is currently being sent. */
  send(): void;
  /** Resolves once everything is sent. */
  drain(): Promise<void>;
}

/**
 * @param next takes the due message; null if there is none
 * @param post resolves when the payload has arrived or the receiver has ended
 */
export function createCourier<T>(next: () => T | null, post: (payload: T) => Promise<void>): Courier {
  let sending: Promise<void> | null = null;

  async function deliver(first: T): Promise<void> {
    for (let payload: T | null = first; payload !== null; payload = next()) await post(payload);
    sending = null;
  }

  function send(): void {
    if (sending !== null) return;
    const first = next();
    if (first !== null) sending = deliver(first);
  }

  return {
    send,
    async drain() {
      send();
      await sending;
    },
  };
}
