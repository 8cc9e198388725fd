import { createHash } from 'node:crypto';

/** Pictures that are kept; one of a large graph has about 1 MB. */
const KEPT = 24;

/** SVG of drawings, each made once: a plan does not change, and many may watch its run. */
export class Pictures {
  readonly #made = new Map<string, Promise<string>>();

  /** @throws Error when the text is no DOT */
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

  async #draw(key: string, dot: string): Promise<string> {
    try {
      const { renderSvg } = await import('../../pictures/render-svg.js');
      return await renderSvg(dot);
    } catch (error) {
      this.#made.delete(key);
      throw error;
    }
  }
}
