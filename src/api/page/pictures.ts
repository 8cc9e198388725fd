import { createHash } from 'node:crypto';
import { type Drawer, type Drawing, openDrawer } from './drawing.ts';

/** Pictures that are kept: so many, and of so many bytes together. One of a real release's graph has about 1 MB. */
const KEPT = 24;
const KEPT_BYTES = 32 * 1024 * 1024;

interface Picture {
  readonly drawn: Promise<Uint8Array>;
  readonly ending: AbortController;
  /** How many wait for it. */
  waiting: number;
  /** Once it is made. */
  bytes: number;
}

/** Drawings, each made once, in another thread: a plan does not change, and many may watch its run. */
export class Pictures {
  readonly #made = new Map<string, Picture>();
  readonly #drawer: Drawer;

  constructor(drawer: Drawer = openDrawer()) {
    this.#drawer = drawer;
  }

  /**
   * @param signal of the client: when all clients have disconnected, the work ends
   * @throws Error when the text is not DOT, or its thread died; the next request draws it again
   */
  async draw(drawing: Drawing, signal?: AbortSignal): Promise<Uint8Array> {
    signal?.throwIfAborted();
    const key = `${drawing.as} ${createHash('sha256').update(drawing.dot).digest('base64')}`;
    const picture = this.#made.get(key) ?? this.#draw(key, drawing);
    // The one used last goes last.
    this.#made.delete(key);
    this.#made.set(key, picture);
    this.#makeRoom();
    const leave = (): void => {
      picture.waiting -= 1;
      if (picture.waiting > 0) return;
      if (this.#made.get(key) === picture) this.#made.delete(key);
      picture.ending.abort(new Error('the client has disconnected'));
    };
    picture.waiting += 1;
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await picture.drawn;
    } finally {
      signal?.removeEventListener('abort', leave);
      if (signal?.aborted !== true) picture.waiting -= 1;
    }
  }

  /** Nothing is drawn any more. */
  close(): Promise<void> {
    return this.#drawer.close();
  }

  #draw(key: string, drawing: Drawing): Picture {
    const ending = new AbortController();
    const drawn = this.#drawer.draw(drawing, ending.signal);
    const picture: Picture = { drawn, ending, waiting: 0, bytes: 0 };
    drawn.then(
      ({ length }) => {
        picture.bytes = length;
        this.#makeRoom();
      },
      () => {
        if (this.#made.get(key) === picture) this.#made.delete(key);
      },
    );
    return picture;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const picture of this.#made.values()) bytes += picture.bytes;
    for (const [oldest, picture] of this.#made) {
      if (this.#made.size <= KEPT && bytes <= KEPT_BYTES) break;
      if (picture.waiting > 0 && picture.bytes === 0) continue;
      bytes -= picture.bytes;
      this.#made.delete(oldest);
    }
  }
}
