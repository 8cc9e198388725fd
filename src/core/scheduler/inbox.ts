/** Puts the messages of one sender in order: signals between workflows may arrive out of order or twice. */
export interface Inbox<M extends { readonly seq: number }> {
  /** Number of the last processed message, counted from 1. */
  last: number;
  /** Messages that arrived before their turn. */
  readonly early: Map<number, M>;
}

export const newInbox = <M extends { readonly seq: number }>(last = 0, early: readonly M[] = []): Inbox<M> => ({
  last,
  early: new Map(early.map((message) => [message.seq, message])),
});

/** Begins before the message of this number, whatever came or is missing before it. */
export function skipTo<M extends { readonly seq: number }>(order: Inbox<M>, seq: number): void {
  order.last = seq - 1;
  for (const early of order.early.keys()) if (early < seq) order.early.delete(early);
}

/** The messages that can be processed now: none, this one, or this one and those that waited for it. */
export function takeInOrder<M extends { readonly seq: number }>(order: Inbox<M>, message: M): M[] {
  if (message.seq > order.last) order.early.set(message.seq, message);
  const ready: M[] = [];
  for (let next = order.early.get(order.last + 1); next !== undefined; next = order.early.get(order.last + 1)) {
    order.early.delete(next.seq);
    order.last = next.seq;
    ready.push(next);
  }
  return ready;
}

/** Early messages in order, for snapshots. */
export const earlyMessages = <M extends { readonly seq: number }>(order: Inbox<M>): M[] =>
  [...order.early.values()].sort((a, b) => a.seq - b.seq);
