import type { PartNews } from '../src/core/graph-run/index.js';
import type { FromPart, ToPart } from '../src/core/scheduler/index.js';

/** Payload of `from_part`: what gathered in a child since its last signal. Signals may overtake each other. */
export interface FromPartSignal {
  /** Transaction of the graph, so that a straggler of an earlier one is known as such. */
  readonly graph: number;
  readonly part: number;
  /** Counts up from 1. */
  readonly seq: number;
  /** How many of the parent's messages the child has taken in. */
  readonly heard: number;
  /** Once: the child has its part, and these of its nodes do not answer. */
  readonly ready?: { readonly offline: readonly string[] };
  /** Once by each run of the child's workflow but the first: it has continued as new. */
  readonly continued?: true;
  readonly messages: readonly FromPart[];
  readonly news: PartNews;
}

/** Payload of `to_part`. */
export interface ToPartSignal {
  readonly messages: readonly ToPart[];
}

/**
 * Sends what gathers, one signal at a time: a round trip to the server is what one costs, so that what
 * comes up meanwhile travels together with the next.
 */
export interface Courier {
  /** Sends unless a signal is under way; then what is due goes when that one has arrived. */
  send(): void;
  /** Resolves once nothing is due and nothing under way. */
  drain(): Promise<void>;
}

/** `next` takes what is due, or null when nothing is; `post` resolves when it has arrived, or the receiver has ended. */
export function createCourier<T>(next: () => T | null, post: (payload: T) => Promise<void>): Courier {
  let underWay: Promise<void> | null = null;

  async function deliver(first: T): Promise<void> {
    for (let payload: T | null = first; payload !== null; payload = next()) await post(payload);
    underWay = null;
  }

  function send(): void {
    if (underWay !== null) return;
    const first = next();
    if (first !== null) underWay = deliver(first);
  }

  return {
    send,
    async drain() {
      send();
      await underWay;
    },
  };
}
