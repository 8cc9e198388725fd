/**
 * Limits the number of values of a label: the first ones pass, later ones become `other`. For values that should be few
 * but come from data.
 */
export class LabelValues {
  readonly #known = new Set<string>();
  readonly #most: number;

  constructor(most = 50) {
    this.#most = most;
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#most || value.length > 100) return 'other';
    this.#known.add(value);
    return value;
  }
}
