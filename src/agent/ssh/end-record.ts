/** The end record that the runner wrote: `key=value` lines; `try` and `file_failed` may occur more than once. */
export class EndRecord {
  readonly #lines: readonly (readonly [string, string])[];

  constructor(text: string) {
    this.#lines = text.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    });
  }

  all(name: string): readonly string[] {
    return this.#lines.filter(([key]) => key === name).map(([, value]) => value);
  }

  text(name: string): string {
    return this.all(name).at(-1) ?? '';
  }

  count(name: string): number {
    const value = Number(this.text(name));
    return Number.isFinite(value) ? value : 0;
  }

  bytes(name: string): Buffer {
    return Buffer.from(this.text(name), 'base64');
  }
}
