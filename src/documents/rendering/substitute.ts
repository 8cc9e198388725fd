import { isDeepStrictEqual } from 'node:util';
import type { ValuePath } from '../../core/data/plain-value.ts';
import { kindOf } from '../../core/data/plain-value.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { Finding } from '../diagnostics/place-problem.ts';
import type { Destination, Substitution } from '../schemas/layered-document.ts';
import { changeAll, createAt, findAll, readPath } from './json-path.ts';
import { type LayeredDocument, title } from './layered-document.ts';
import { PatternError, type Patterns } from './patterns.ts';
import { RenderingError } from './report.ts';
import type { Traced } from './traced.ts';

/** Where substitutions take their values from. */
export interface Sources {
  /** The document that stands for a schema and name, rendered. */
  find(schema: string, name: string): Source | 'failed' | undefined;
  /** Names of documents of a schema, for "did you mean". */
  names(schema: string): readonly string[];
  /** Of a document that cannot be read: why, and what to do. */
  sealed(schema: string, name: string): { readonly reason: string; readonly hint: string } | undefined;
}

interface Source {
  readonly document: LayeredDocument;
  readonly data: Traced;
  readonly isSecret: boolean;
}

export interface SubstitutionOptions {
  /** Leaves out what has no source, as offline tools do; otherwise it is an error. */
  readonly skipsMissing?: boolean;
  /** Leaves texts alone that have the value of a pattern already: it may hold the pattern itself. */
  readonly keepsReplaced?: boolean;
}

export interface Substituted {
  readonly data: Traced;
  readonly warnings: readonly Finding[];
  /** A source is to be kept secret. */
  readonly isSecret: boolean;
  /** How many values were in place already. */
  readonly inPlace: number;
}

/** Stops the rendering of a document whose source could not be rendered: that has been reported. */
export class SourceFailed extends Error {}

/** Largest data of one document, written out. */
const MAX_WEIGHT = 200_000;
const MAX_DEPTH = 100;

/** @throws RenderingError when data would be too large */
export function checkSize(document: LayeredDocument, data: Traced): void {
  const { weight, depth } = data.size;
  if (weight <= MAX_WEIGHT && depth <= MAX_DEPTH) return;
  throw new RenderingError({
    code: 'rendering.too-large',
    message: `${title(document)} would have more than ${weight > MAX_WEIGHT ? `${MAX_WEIGHT} values` : `${MAX_DEPTH} levels`}`,
    hint: 'Look for a value that is put into itself again and again.',
    path: ['metadata', 'substitutions'],
  });
}

/** Puts the values of other documents into the data of one, in the order of its substitutions. */
export function substitute(
  document: LayeredDocument,
  layered: Traced,
  sources: Sources,
  patterns: Patterns,
  options: SubstitutionOptions = {},
): Substituted {
  const warnings: Finding[] = [];
  let data = layered;
  let isSecret = false;
  let inPlace = 0;
  for (const [index, substitution] of document.substitutions.entries()) {
    const at: ValuePath = ['metadata', 'substitutions', index];
    const one = new OneSubstitution(document, substitution, at, patterns, warnings);
    const source = one.source(sources, options);
    if (source === undefined) continue;
    isSecret ||= source.isSecret;
    const { dest } = substitution;
    for (const [place, destination] of (Array.isArray(dest) ? dest : [dest]).entries()) {
      const under = Array.isArray(dest) ? ['dest', place] : ['dest'];
      const before = data;
      data = one.put(data, source.value, destination, under, options);
      checkSize(document, data);
      if (isInPlace(before, data, source.value.value, destination)) inPlace += 1;
    }
  }
  return { data, warnings, isSecret, inPlace };
}

/** Whether a value was at its destination before; with a pattern, the text there holds it. */
function isInPlace(before: Traced, after: Traced, value: unknown, { path: text, pattern }: Destination): boolean {
  const found = findAll(before, readPath(text) ?? []);
  if (found.length === 0) return false;
  if (pattern === undefined || pattern === '') return before === after || isDeepStrictEqual(before.value, after.value);
  const written = JSON.stringify(String(value)).slice(1, -1);
  return before === after && JSON.stringify(found.map((one) => one.value)).includes(written);
}

/** Whether the data have something where a substitution without a source would put a value. */
export function hasValues(data: Traced, { dest }: Substitution, patterns: Patterns): boolean {
  return (Array.isArray(dest) ? dest : [dest]).every(({ path: text, pattern }) => {
    const found = findAll(data, readPath(text) ?? []);
    return found.some(({ value }) =>
      pattern === undefined || typeof value !== 'string'
        ? value !== null
        : patterns.search(pattern, value, 0) === undefined,
    );
  });
}

class OneSubstitution {
  readonly #document: LayeredDocument;
  readonly #substitution: Substitution;
  readonly #at: ValuePath;
  readonly #patterns: Patterns;
  readonly #warnings: Finding[];

  constructor(
    document: LayeredDocument,
    substitution: Substitution,
    at: ValuePath,
    patterns: Patterns,
    warnings: Finding[],
  ) {
    this.#document = document;
    this.#substitution = substitution;
    this.#at = at;
    this.#patterns = patterns;
    this.#warnings = warnings;
  }

  /** The value to put in place; undefined when it is left out. */
  source(
    sources: Sources,
    { skipsMissing }: SubstitutionOptions,
  ): { readonly value: Traced; readonly isSecret: boolean } | undefined {
    const { schema, name, path: text, pattern, match_group: group = 0 } = this.#substitution.src;
    const found = sources.find(schema, name);
    if (found === 'failed') throw new SourceFailed();
    if (found === undefined) {
      if (skipsMissing) return undefined;
      const sealed = sources.sealed(schema, name);
      if (sealed) throw this.#error('rendering.encrypted', sealed.reason, sealed.hint, ['src']);
      const hint = didYouMean(name, sources.names(schema)) ?? `Add the document ${schema} '${name}' to the site.`;
      throw this.#error('rendering.missing-source', `there is no document ${schema} '${name}'`, hint, ['src', 'name']);
    }
    const { document, data, isSecret } = found;
    if (document.isEncrypted && typeof data.value === 'string' && SECRET_REFERENCE.test(data.value))
      throw this.#error(
        'rendering.encrypted',
        `the secret of ${title(document)} is kept elsewhere, at ${data.value}`,
        'Give the site the secret itself.',
        ['src'],
      );
    const path = readPath(text);
    if (path === undefined)
      throw this.#error('rendering.substitution', `'${text}' is not a path`, PATH_HINT, ['src', 'path']);
    if (data.items() && path.length > 0) this.#warnings.push(this.#listSource(document, text));
    const [at] = data.entries() ? findAll(data, path) : [data];
    if (at === undefined || at.value === null) {
      if (!skipsMissing) {
        const message = `${title(document)} has nothing at ${text}`;
        throw this.#error('rendering.missing-source-data', message, 'Correct the path, or add the value there.', [
          'src',
          'path',
        ]);
      }
      return at && { value: at, isSecret };
    }
    if (pattern === undefined || pattern === '') return { value: at, isSecret };
    return { value: this.#part(at, pattern, group), isSecret };
  }

  #part(value: Traced, pattern: string, group: number): Traced {
    const text = value.value;
    if (typeof text !== 'string')
      throw this.#error('rendering.substitution', `the pattern is for text, not for ${kindOf(text)}`, 'Remove it.', [
        'src',
        'pattern',
      ]);
    const part = this.#matching(['src', 'pattern'], () => this.#patterns.search(pattern, text, group));
    return part === undefined ? value : value.replacedBy(part);
  }

  #listSource(document: LayeredDocument, text: string): Finding {
    return {
      severity: 'warning',
      code: 'rendering.list-source',
      message: `${title(document)} is a list: all of it is put into ${title(this.#document)}, whatever the path ${text}`,
      hint: 'As Deckhand does. Put the list under a key to take an item of it.',
      path: [...this.#at, 'src', 'path'],
    };
  }

  /** The data with the value at a destination. */
  put(data: Traced, value: Traced, to: Destination, under: ValuePath, options: SubstitutionOptions): Traced {
    const { skipsMissing } = options;
    const fail = (message: string, hint: string, key = 'path'): RenderingError =>
      this.#error('rendering.substitution', message, hint, [...under, key]);
    const path = /^[.$]/.test(to.path) ? readPath(to.path) : undefined;
    if (path === undefined) throw fail(`'${to.path}' is not a path in a document`, PATH_HINT);
    const found = findAll(data, path);
    if (to.pattern !== undefined && to.pattern !== '') {
      if (found.length === 0 && skipsMissing) return data;
      if (found.length === 0)
        throw fail(`there is no text at ${to.path} for the pattern`, 'Correct the path, or add the text.');
      return this.#replaceIn(data, value, { ...to, pattern: to.pattern }, under, options);
    }
    if (path.length === 0) {
      const entries = value.entries();
      return entries && data.entries() ? data.withEntries(entries) : value;
    }
    const made = found.length > 0 ? changeAll(data, path, () => value) : createAt(data, path, value);
    if (made === undefined)
      throw fail(`there is another kind of value on the way to ${to.path}`, 'Correct the path, or the data.');
    return made;
  }

  #replaceIn(
    data: Traced,
    value: Traced,
    to: Destination & { readonly pattern: string },
    under: ValuePath,
    { keepsReplaced }: SubstitutionOptions,
  ): Traced {
    const { pattern, recurse } = to;
    const text = value.value;
    if (typeof text === 'object' && text !== null)
      throw this.#error(
        'rendering.substitution',
        `a pattern is replaced by text, not by ${kindOf(text)}`,
        'Take a text by src.path, or put the whole value in place, without a pattern.',
        [...under, 'pattern'],
      );
    let isFound = false;
    const replace = (one: Traced): Traced => {
      const put = text === null ? 'None' : String(text);
      const replaced = this.#matching([...under, 'pattern'], () => {
        const rest = keepsReplaced && put !== '' ? String(one.value).replaceAll(put, '\n') : '';
        const isDone = rest !== '' && this.#patterns.search(pattern, rest, 0) === undefined;
        return isDone ? undefined : this.#patterns.replace(pattern, String(one.value), put);
      });
      if (replaced === undefined) return one;
      isFound = true;
      return one.replacedBy(replaced);
    };
    const changed = changeAll(data, readPath(to.path) ?? [], (one) => {
      if (typeof one.value === 'string') return replace(one);
      if (recurse) return replaceBelow(one, recurse.depth, replace);
      throw this.#error(
        'rendering.substitution',
        `the pattern is for text, but there is ${kindOf(one.value)} at ${to.path}`,
        'Correct the path, or add recurse for all texts below it.',
        [...under, 'path'],
      );
    });
    if (!isFound && !(recurse?.depth === 0))
      this.#warnings.push({
        severity: 'warning',
        code: 'rendering.pattern-not-found',
        message: `${title(this.#document)}: nothing at ${to.path} matches '${pattern}', so that nothing is put in place`,
        hint: 'Correct the pattern or the path, or remove the substitution.',
        path: [...this.#at, ...under, 'pattern'],
      });
    return isFound ? (changed ?? data) : data;
  }

  #matching<Result>(under: ValuePath, match: () => Result): Result {
    try {
      return match();
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw this.#error('rendering.substitution', error.message, "Correct it: a pattern is one of Python's re.", under);
    }
  }

  #error(code: string, message: string, hint: string, under: ValuePath): RenderingError {
    const { schema, name } = this.#substitution.src;
    return new RenderingError({
      code,
      message: `${title(this.#document)}, substitution from ${schema} '${name}': ${message}`,
      hint,
      path: [...this.#at, ...under],
    });
  }
}

const PATH_HINT = 'Write a path such as .a.b, .list[0] or .: all data.';

/** Deckhand keeps the data of encrypted documents in Barbican, and a reference in their place. */
const SECRET_REFERENCE = /^https?:\/\/[^\s]{1,500}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/?$/;

/** Replaces in the texts below a value, so many levels deep; -1: all. */
function replaceBelow(node: Traced, depth: number, replace: (text: Traced) => Traced): Traced {
  if (depth === 0) return node;
  const inner = (one: Traced): Traced =>
    typeof one.value === 'string' ? replace(one) : replaceBelow(one, depth - 1, replace);
  const entries = node.entries();
  if (entries) return node.withEntries([...entries].map(([key, one]) => [key, inner(one)]));
  const items = node.items();
  return items ? node.withItems(items.map(inner)) : node;
}
