import { createHash } from 'node:crypto';
import { type Drawer, openDrawer } from './drawing.ts';

/** Pictures that are kept; one of a large graph has about 1 MB. */
const KEPT = 24;

interface Picture {
  readonly svg: Promise<string>;
  readonly ending: AbortController;
  /** How many wait for it. */
  waiting: number;
}

/** SVG of drawings, each made once, beside this thread: a plan does not change, and many may watch its run. */
export class Pictures {
  readonly #made = new Map<string, Picture>();
  readonly #drawer: Drawer;

  constructor(drawer: Drawer = openDrawer()) {
    this.#drawer = drawer;
  }

  /**
   * @param signal of who asks: when all who wait have gone, the work ends
   * @throws Error when the text is not DOT, or its thread died; the next request draws it again
   */
  async svg(dot: string, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const key = createHash('sha256').update(dot).digest('base64');
    const picture = this.#made.get(key) ?? this.#draw(key, dot);
    // The one used last goes last.
    this.#made.delete(key);
    this.#made.set(key, picture);
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= KEPT) break;
      this.#made.delete(oldest);
    }
    const leave = (): void => {
      picture.waiting -= 1;
      if (picture.waiting > 0) return;
      if (this.#made.get(key) === picture) this.#made.delete(key);
      picture.ending.abort(new Error('no one waits for the picture any more'));
    };
    picture.waiting += 1;
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await picture.svg;
    } finally {
      signal?.removeEventListener('abort', leave);
      if (signal?.aborted !== true) picture.waiting -= 1;
    }
  }

  /** Nothing is drawn any more. */
  close(): Promise<void> {
    return this.#drawer.close();
  }

  #draw(key: string, dot: string): Picture {
    const ending = new AbortController();
    const svg = this.#drawer.svg(dot, ending.signal);
    const picture: Picture = { svg, ending, waiting: 0 };
    svg.catch(() => {
      if (this.#made.get(key) === picture) this.#made.delete(key);
    });
    return picture;
  }
}
