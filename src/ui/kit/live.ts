// One stream of events for all tabs of a browser: over HTTP/1.1 it has six connections for an address, so that a stream a
// tab would leave none for requests. Runs in a SharedWorker (live-worker.ts), or in the page of a browser without them.
import type { StreamEvent } from './api.ts';
import { eventsOf } from './event-stream.ts';
import { type Problem, refusalOf } from './refusal.ts';

/** What a tab wants to hear of: lists, and these runs. Null: nothing, as nobody sees it. To be said again every `SAY_AGAIN_MS`. */
export interface Wanted {
  readonly runs: readonly string[] | null;
}

type ListsEvent = StreamEvent<'GET /events'>;

export type News =
  | { readonly kind: 'event'; readonly event: ListsEvent }
  /** Whether the API answered. */
  | { readonly kind: 'answer'; readonly isThere: boolean }
  | { readonly kind: 'refused'; readonly problem: Problem; readonly ended: boolean };

export const SAY_AGAIN_MS = 10_000;
/** A tab that has said nothing for so long is gone: a browser does not tell of one that crashed. */
const GONE_AFTER_MS = 35_000;
/** Tabs change places: one is hidden, then another shows. */
const SETTLE_MS = 50;
/** Of the API (`GET /events`). */
const MOST_RUNS = 50;

interface Tab {
  readonly runs: readonly string[];
  readonly at: number;
}

export class Live {
  readonly #tabs = new Map<MessagePort, Tab>();
  #stop = new AbortController();
  #settling: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    setInterval(() => {
      for (const [port, { at }] of this.#tabs) if (Date.now() - at > GONE_AFTER_MS) this.#hear(port, null);
    }, SAY_AGAIN_MS);
  }

  /** A tab that says by this port what it wants. */
  join(port: MessagePort): void {
    port.onmessage = ({ data }: MessageEvent<Wanted>) => this.#hear(port, data.runs);
  }

  #hear(port: MessagePort, runs: Wanted['runs']): void {
    const before = this.#tabs.get(port);
    if (runs === null) this.#tabs.delete(port);
    else this.#tabs.set(port, { runs, at: Date.now() });
    if (before?.runs.join() === runs?.join()) return;
    // A stream begins with everything, which a tab that joins needs.
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#open(), SETTLE_MS);
  }

  #open(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    if (this.#tabs.size > 0) void this.#follow(this.#stop.signal);
  }

  /** Reads the stream; after a break it reconnects, at first immediately. */
  async #follow(signal: AbortSignal): Promise<void> {
    const runs = [...new Set([...this.#tabs.values()].flatMap((tab) => tab.runs))].slice(-MOST_RUNS);
    const address = `/api/v1/events?${new URLSearchParams(runs.map((run) => ['run', run]))}`;
    for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 10_000)) {
      try {
        const answer = await fetch(address, { headers: { accept: 'text/event-stream' }, signal });
        this.#tell({ kind: 'answer', isThere: true });
        if (answer.status === 401) return this.#tell({ kind: 'refused', ...(await refusalOf(answer)) });
        if (answer.ok)
          for await (const event of eventsOf(answer)) {
            wait = 250;
            this.#tell({ kind: 'event', event: event as unknown as ListsEvent });
          }
      } catch {
        if (!signal.aborted) this.#tell({ kind: 'answer', isThere: false });
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  #tell(news: News): void {
    const run = news.kind === 'event' && news.event.event === 'run' ? news.event.data.run : undefined;
    for (const [port, { runs }] of this.#tabs) if (run === undefined || runs.includes(run)) port.postMessage(news);
  }
}
