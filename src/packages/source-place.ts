import type { SourceText } from '../documents/yaml/source-text.js';
import type { Place } from './data-node.js';

/** A place that counts lines only when somebody asks: nearly all values are never complained about. */
export class SourcePlace implements Place {
  readonly file: string;
  readonly #source: SourceText;
  readonly #offset: number;

  constructor(file: string, source: SourceText, offset: number) {
    this.file = file;
    this.#source = source;
    this.#offset = offset;
  }

  get line(): number {
    return this.#source.position(this.#offset).line;
  }

  get column(): number {
    return this.#source.position(this.#offset).column;
  }
}
