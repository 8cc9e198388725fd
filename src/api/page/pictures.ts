import { createHash } from 'node:crypto';
import { type Drawer, openDrawer } from './drawing.js';

/** Pictures that are kept; one of a large graph has about 1 MB. */
const KEPT = 24;

/** SVG of drawings, each made once, beside this thread: a plan does not change, and many may watch its run. */
export class Pictures {
  readonly #made = new Map<string, Promise<string>>();
  readonly #drawer: Drawer;

  constructor(drawer: Drawer = openDrawer()) {
    this.#drawer = drawer;
  }

  /** @throws Error when the text is not DOT, or its thread died; the next request draws it again */
  svg(dot: string): Promise<string> {
    const key = createHash('sha256').update(dot).digest('base64');
    const made = this.#made.get(key) ?? this.#draw(key, dot);
    // The one used last goes last.
    this.#made.delete(key);
    this.#made.set(key, made);
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= KEPT) break;
      this.#made.delete(oldest);
    }
    return made;
  }

  /** Nothing is drawn any more. */
  close(): Promise<void> {
    return this.#drawer.close();
  }

  async #draw(key: string, dot: string): Promise<string> {
    try {
      return await this.#drawer.svg(dot);
    } catch (error) {
      this.#made.delete(key);
      throw error;
    }
  }
}
