import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { SITE_NAME } from '../core/site-run/site-name.ts';
import { invalid } from './failure.ts';
import type { Json } from './page.ts';

/**
 * In UTF-8. Two of them and a time fit into an index entry of PostgreSQL (2,704 bytes); Temporal's ids are not longer.
 */
const LONGEST_KEY = 1000;

/** Whether a site may have this name. */
export const isSiteName = (name: string): boolean => SITE_NAME.test(name);

/**
 * PostgreSQL's text cannot hold NUL. It becomes U+FFFD on both databases, so that one NUL does not cost a whole report.
 */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

/** Collects all problems with the values of one call, to refuse it with all of them. */
export class InputCheck {
  readonly #problems: Diagnostic[] = [];

  refuse(path: string, message: string, hint: string): void {
    this.#problems.push({ severity: 'error', code: 'store.input', message, hint, path });
  }

  /** @throws StoreError of kind `invalid` if anything was refused */
  done(): void {
    if (this.#problems.length > 0) throw invalid(this.#problems);
  }

  siteName(path: string, name: string): string {
    if (!isSiteName(name)) {
      const hint =
        'Start with a lower-case letter or digit, then use these, dots, underscores and hyphens; at most 63 characters.';
      this.refuse(path, `${path} ${JSON.stringify(name)} is not a valid site name.`, hint);
    }
    return name;
  }

  /** A name or id with any characters, as stored. */
  key(path: string, value: string): string {
    if (value === '') this.refuse(path, `${path} is empty.`, 'Give it a value.');
    if (Buffer.byteLength(value) > LONGEST_KEY) {
      this.refuse(path, `${path} is longer than ${LONGEST_KEY} bytes.`, 'Shorten it.');
    }
    return storable(value);
  }

  count(path: string, value: number): number {
    if (!Number.isSafeInteger(value) || value < 0) {
      this.refuse(path, `${path} is ${value}, not a whole number of 0 or more.`, 'Correct it.');
    }
    return value;
  }

  /** Any ISO 8601 time with a zone, as UTC with milliseconds: the one form that sorts as text. */
  time(path: string, value: string): string {
    const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(value)
      ? Date.parse(value)
      : Number.NaN;
    if (Number.isNaN(moment)) {
      this.refuse(path, `${path} ${JSON.stringify(value)} is not a time.`, 'Write it as 2026-01-02T03:04:05Z.');
      return value;
    }
    return new Date(moment).toISOString();
  }

  json(path: string, value: unknown): string {
    try {
      const text: string | undefined = JSON.stringify(value);
      if (text !== undefined) return text;
    } catch {
      // A cycle, a BigInt, or a toJSON that throws: refused below.
    }
    this.refuse(
      path,
      `${path} cannot be written as JSON.`,
      'Use plain objects, arrays, strings, numbers, true, false, null.',
    );
    return 'null';
  }
}

/** Reads a JSON column; an absent value is null. */
export const fromJson = (text: string | null): Json => (text === null ? null : (JSON.parse(text) as Json));
