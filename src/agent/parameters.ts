import type { Diagnostic } from '../core/diagnostic.js';
import { isMapping } from '../core/plain-value.js';
import { allowedPath } from './path-rules.js';

/** Text, or the reference of a secret whose value is the text. */
export type Content = { readonly text: string } | { readonly secret: string };

/**
 * Reads the parameters of a task and gathers everything that is wrong with them. After a problem the value
 * returned is a stand-in; nobody uses it, because a task with problems is not run.
 */
export class ParameterReader {
  readonly problems: Diagnostic[] = [];
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(values: Readonly<Record<string, unknown>>, path = 'parameters', problems: Diagnostic[] = []) {
    this.#values = values;
    this.#path = path;
    this.problems = problems;
  }

  /** Notes a problem; of several at one place the first, which the others follow from. */
  wrong(name: string, message: string, hint: string): void {
    const path = name === '' ? this.#path : `${this.#path}.${name}`;
    if (this.problems.some((problem) => problem.path === path)) return;
    this.problems.push({ severity: 'error', code: 'parameters.invalid', message, hint, path });
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  /** Required unless there is a fallback. Never with NUL. */
  text(name: string, fallback?: string): string {
    const value = this.#value(name) ?? fallback;
    if (typeof value !== 'string')
      this.wrong(name, `${name} must be a text`, value === undefined ? 'Add it.' : 'Put it in quotes.');
    else if (value.includes('\0')) this.wrong(name, `${name} holds a NUL character`, 'Remove it.');
    else return value;
    return fallback ?? '';
  }

  /** An operand of a program: not empty and not to be taken for an option. */
  operand(name: string, fallback?: string): string {
    const value = this.text(name, fallback);
    if (value === '' && typeof this.#value(name) === 'string')
      this.wrong(name, `${name} must not be empty`, 'Give a value.');
    if (value.startsWith('-'))
      this.wrong(name, `${name} must not begin with -`, 'Begin a relative path with ./, better give an absolute one.');
    return value;
  }

  /** An absolute path without detours. */
  path(name: string, fallback?: string): string {
    const value = this.text(name, fallback);
    const rule = typeof (this.#value(name) ?? fallback) === 'string' ? allowedPath(value) : undefined;
    if (rule !== undefined) this.wrong(name, rule, 'Give the absolute path itself.');
    return value;
  }

  /** A number from 0; digits as text count too, because YAML authors quote them. */
  amount(name: string, fallback: number): number {
    const value = this.#value(name) ?? fallback;
    const number = typeof value === 'string' && /^\d{1,9}(\.\d+)?$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number) && number >= 0 && number < 1e9) return number;
    this.wrong(name, `${name} must be a number from 0`, `Leave it out for ${fallback}.`);
    return fallback;
  }

  count(name: string, fallback: number): number {
    const value = this.amount(name, fallback);
    if (!Number.isInteger(value)) this.wrong(name, `${name} must be an integer`, `Leave it out for ${fallback}.`);
    return value;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.#value(name) ?? fallback;
    if (typeof value === 'boolean') return value;
    this.wrong(name, `${name} must be true or false`, `Leave it out for ${fallback}.`);
    return fallback;
  }

  /** File permissions: three or four octal digits, as text. */
  permissions(name: string, fallback: number): number {
    const value = this.#value(name);
    if (value === undefined) return fallback;
    if (typeof value === 'string' && /^[0-7]{3,4}$/.test(value)) return Number.parseInt(value, 8);
    const hint =
      typeof value === 'number' ? 'Put it in quotes: without them YAML reads another number.' : 'Write it like "0644".';
    this.wrong(name, `${name} must be three or four octal digits as text`, hint);
    return fallback;
  }

  /** Text, or `{secret: REF}`. */
  content(name: string): Content {
    const value = this.#value(name);
    if (typeof value === 'string') return { text: value };
    if (isMapping(value)) {
      const { secret, ...rest } = value as Record<string, unknown>;
      if (typeof secret === 'string' && secret !== '' && Object.keys(rest).length === 0) return { secret };
    }
    this.wrong(name, `${name} must be a text or {secret: REF}`, value === undefined ? 'Add it.' : 'Put it in quotes.');
    return { text: '' };
  }

  /** One reader for each object of a list. */
  entries(name: string): ParameterReader[] {
    const value = this.#value(name);
    if (!Array.isArray(value)) {
      this.wrong(name, `${name} must be a list`, value === undefined ? 'Add it.' : 'Begin each entry with a dash.');
      return [];
    }
    return value.flatMap((entry: unknown, at) => {
      const path = `${this.#path}.${name}[${at}]`;
      if (isMapping(entry)) return [new ParameterReader(entry as Record<string, unknown>, path, this.problems)];
      new ParameterReader({}, path, this.problems).wrong('', 'must be an object', 'See docs/agents.md.');
      return [];
    });
  }
}
