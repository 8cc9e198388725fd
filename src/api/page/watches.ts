import { PassThrough, type Readable } from 'node:stream';
import { asProblem } from '../../ops/index.ts';

/** The current state of the watched object, and whether it can still change. */
export interface Seen<F extends Frame = Frame> {
  readonly frame: F;
  readonly ended: boolean;
}

interface WatchOptions {
  /** Default: a second. */
  readonly intervalMs?: number;
  /** Receives unexpected errors; readers only learn that there was one. */
  readonly defect?: (error: unknown) => void;
}

/** Something that changes, as a stream tells of it. */
export interface Watched {
  /** The same for all who watch it. */
  readonly key: string;
  readonly look: () => Promise<Seen>;
  /** Of a run beside the lists: its events come as `run`, with this id. */
  readonly run?: string;
}

/** Between two looks at the same thing. */
const INTERVAL_MS = 1_000;
/** After a failure: an unreachable service should not be asked every second. */
const AWAY_MS = 5_000;
/** Polls without changes until a keep-alive is sent: proxies close idle streams. */
const SILENT_LOOKS = 15;
/** Backlog at which a reader is disconnected; it reconnects for a whole frame. */
const MAX_BEHIND = 4 * 1024 * 1024;

/**
 * Streams of server-sent events about things that change. Each object is polled once per interval, however many
 * watch it, and not at all while no one does; only changes are sent, after a first event with everything.
 */
export class Watches {
  readonly #watches = new Map<string, Watch>();
  readonly #options: Required<WatchOptions>;

  constructor(options: WatchOptions = {}) {
    this.#options = { intervalMs: INTERVAL_MS, defect: () => undefined, ...options };
  }

  /** A stream of events about these things, which ends with the first of them; destroy it to stop watching. */
  open(...[main, ...others]: readonly [Watched, ...Watched[]]): Readable {
    const stream = new PassThrough({ highWaterMark: MAX_BEHIND });
    this.#watch(main).join({ stream, run: null });
    for (const other of others) this.#watch(other).join({ stream, run: other.run ?? null });
    return stream;
  }

  #watch({ key, look }: Watched): Watch {
    let watch = this.#watches.get(key);
    if (watch === undefined) {
      watch = new Watch(look, this.#options, () => this.#watches.delete(key));
      this.#watches.set(key, watch);
    }
    return watch;
  }

  /** Ends all streams. */
  close(): void {
    for (const watch of [...this.#watches.values()]) watch.end();
  }
}

interface Reader {
  readonly stream: PassThrough;
  /** The stream tells of other things, too: its end is not the stream's. */
  readonly run: string | null;
}

class Watch {
  readonly #look: () => Promise<Seen>;
  readonly #options: Required<WatchOptions>;
  readonly #gone: () => void;
  readonly #readers = new Set<Reader>();
  readonly #sent: Sent = new Map();
  #timer: NodeJS.Timeout | undefined;
  #silent = 0;
  #seen = false;
  #failed = false;

  constructor(look: () => Promise<Seen>, options: Required<WatchOptions>, gone: () => void) {
    this.#look = look;
    this.#options = options;
    this.#gone = gone;
    this.#timer = setTimeout(() => void this.#turn(), 0);
  }

  join(reader: Reader): void {
    this.#readers.add(reader);
    reader.stream.once('close', () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) this.end();
    });
    if (this.#seen) tell(reader, 'all', JSON.stringify(everything(this.#sent)));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gone();
    for (const { stream, run } of this.#readers) if (run === null) stream.end();
  }

  async #turn(): Promise<void> {
    let wait = this.#options.intervalMs;
    let ended = false;
    try {
      const seen = await this.#look();
      const changes = changesSince(this.#sent, seen.frame);
      if (!this.#seen) this.#send('all', everything(this.#sent));
      // After a problem readers must learn that it is over, although nothing has changed.
      else if (this.#failed || Object.keys(changes).length > 0) this.#send('changes', changes);
      else if (++this.#silent >= SILENT_LOOKS) this.#send('', {});
      this.#seen = true;
      this.#failed = false;
      ended = seen.ended;
      if (ended) this.#send('end', {});
    } catch (error) {
      this.#send('problem', this.#problemOf(error));
      this.#failed = true;
      wait = AWAY_MS;
    }
    // Meanwhile the last reader may have left.
    if (this.#timer === undefined) return;
    if (ended) this.end();
    else this.#timer = setTimeout(() => void this.#turn(), wait);
  }

  #problemOf(error: unknown): object {
    const { code, message, hint } = asProblem(error);
    if (code !== 'unexpected') return { code, message, hint };
    this.#options.defect(error);
    return { code, message: 'internal error; see the log of the API' };
  }

  /** @param event empty: a sign of life */
  #send(event: string, data: object): void {
    this.#silent = 0;
    const json = JSON.stringify(data);
    for (const reader of this.#readers) tell(reader, event, json);
  }
}

function tell({ stream, run }: Reader, event: string, json: string): void {
  if (stream.writableLength > MAX_BEHIND) stream.destroy();
  else if (event === '') stream.write(': still here\n\n');
  else if (run === null) stream.write(`event: ${event}\ndata: ${json}\n\n`);
  else stream.write(`event: run\ndata: {"run":${JSON.stringify(run)},"of":{"event":"${event}","data":${json}}}\n\n`);
}

/** Shown data, as named tables of plain values: the unit of change is one entry of a table. */
export type Frame = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The sent state: the text of each entry, by table. */
export type Sent = Map<string, Map<string, string>>;

/**
 * Differences between the sent state and the frame, by table; a removed entry is null. Updates `sent` to the frame.
 */
export function changesSince(sent: Sent, frame: Frame): Record<string, Record<string, unknown>> {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const [table, entries] of Object.entries(frame)) {
    const before = sent.get(table) ?? new Map<string, string>();
    const changed: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(entries)) {
      const text = JSON.stringify(value) ?? 'null';
      if (before.get(key) !== text) changed[key] = value ?? null;
      before.set(key, text);
    }
    for (const key of before.keys()) {
      if (Object.hasOwn(entries, key)) continue;
      changed[key] = null;
      before.delete(key);
    }
    sent.set(table, before);
    if (Object.keys(changed).length > 0) changes[table] = changed;
  }
  return changes;
}

/** Everything that was sent, for a reader who joins later. */
export function everything(sent: Sent): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    [...sent].map(([table, entries]) => [
      table,
      Object.fromEntries([...entries].map(([key, text]) => [key, JSON.parse(text) as unknown])),
    ]),
  );
}
