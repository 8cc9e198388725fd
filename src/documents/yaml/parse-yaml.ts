import { EVENT_ID, type Event, YAMLException } from 'js-yaml';
import { type Diagnostic, isError } from '../../core/diagnostic.js';
import { didYouMean } from '../../core/did-you-mean.js';
import type { ValuePath } from '../../core/plain-value.js';

import { compose, eventRange, type PlacedProblem } from './compose.js';
import { DEFAULT_YAML_LIMITS, type YamlLimits } from './limits.js';
import { parseYamlEvents } from './parse-events.js';
import { Places, type Range } from './places.js';
import { excerpt, type LineColumn, SourceText } from './source-text.js';

/** Where something stands: what a diagnostic needs. */
export interface Place extends LineColumn {
  /** The text that stands there, cut to one line of 200 characters. */
  readonly text: string;
}

/** One document of a YAML text. */
export interface YamlDocument {
  /** Plain JSON-like data; aliased parts are shared objects, so treat it as read-only. */
  readonly value: unknown;
  /** False when aliases or tags could not be resolved: its diagnostics say so, a schema's would mislead. */
  readonly usable: boolean;
  /** Nothing between two document markers. */
  readonly empty: boolean;
  readonly source: SourceText;
  /** What is wrong in its values; also among those of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Place of the value (or key) at a path. For a path that leads to nothing, the place of the nearest
   * thing above it. Costs a walk over the document the first time it is asked.
   */
  place(path: ValuePath, part?: 'key' | 'value'): Place;
}

export interface ParsedYaml {
  readonly documents: readonly YamlDocument[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ParseYamlOptions {
  /** Name for diagnostics, as the user knows the text. */
  readonly file?: string;
  readonly limits?: Partial<YamlLimits>;
  /** Refuse every YAML tag, even `!!str` (release and plugin packages). Default: core tags are read. */
  readonly refuseTags?: boolean;
}

/**
 * Reads a YAML text of any number of documents, with PyYAML's scalars (see pyyaml-schema.ts).
 * Never throws for input: what is wrong is in `diagnostics`, all of it at once where the text can be
 * parsed; a syntax error costs its own document only.
 */
export function parseYaml(text: string, options: ParseYamlOptions = {}): ParsedYaml {
  const limits = { ...DEFAULT_YAML_LIMITS, ...options.limits };
  const source = new SourceText(text, options.file);
  const parser = new YamlTextParser(source, limits, options.refuseTags ?? false);
  return parser.run();
}

/** A file with more mistakes than this is the wrong file; reporting a million of them would only cost. */
const MAX_FINDINGS = 1_000;

class YamlTextParser {
  readonly #source: SourceText;
  readonly #limits: YamlLimits;
  readonly #refuseTags: boolean;
  readonly #documents: YamlDocument[] = [];
  readonly #diagnostics: Diagnostic[] = [];

  constructor(source: SourceText, limits: YamlLimits, refuseTags: boolean) {
    this.#source = source;
    this.#limits = limits;
    this.#refuseTags = refuseTags;
  }

  run(): ParsedYaml {
    const { text } = this.#source;
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#limits.maxBytes) {
      this.#report(
        {
          code: 'yaml.too-large',
          message: `the file has ${bytes} bytes; ${this.#limits.maxBytes} are allowed`,
          hint: 'Split it into several files: they are read together.',
        },
        { start: 0, end: 0 },
      );
    } else if (!this.#parse(text, 0)) this.#parseOneByOne(text);
    return { documents: this.#documents, diagnostics: this.#diagnostics };
  }

  /** True when the whole text could be parsed. `base` is its offset in the source. */
  #parse(text: string, base: number): boolean {
    let events: Event[];
    try {
      events = parseYamlEvents(text, this.#limits.maxDepth);
    } catch (error) {
      if (error instanceof YAMLException) return false;
      throw error;
    }
    for (let index = 0; index < events.length; index++) {
      if (events[index]!.type !== EVENT_ID.DOCUMENT) continue;
      if (this.#documents.length >= this.#limits.maxDocuments) {
        const range = nextRange(text, events, index + 1, base);
        this.#report(
          {
            code: 'yaml.too-many-documents',
            message: `the file has more than ${this.#limits.maxDocuments} documents`,
            hint: 'Split it into several files: they are read together.',
          },
          range,
        );
        break;
      }
      this.#document(text, events, index + 1, base);
    }
    return true;
  }

  /** After a syntax error: each document alone, so that one error does not hide those of the others. */
  #parseOneByOne(text: string): void {
    // With %TAG directives a document is more than what follows its marker; then the first error has to do.
    const starts = /^%/m.test(text) ? [] : [...text.matchAll(/^---(?=\s|$)/gm)].map((match) => match.index);
    if (starts[0] !== 0) starts.unshift(0);
    if (starts.length > this.#limits.maxDocuments) starts.length = this.#limits.maxDocuments;
    starts.forEach((start, index) => {
      const part = text.slice(start, starts[index + 1] ?? text.length);
      if (!this.#parse(part, start)) this.#syntaxError(part, start);
    });
    if (!this.#diagnostics.some(isError)) this.#syntaxError(text, 0);
  }

  #syntaxError(text: string, base: number): void {
    try {
      parseYamlEvents(text, this.#limits.maxDepth);
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const reason = error.reason;
      const atEnd = (error.mark?.position ?? 0) >= text.trimEnd().length;
      const range = atEnd ? lastLine(text, base) : restOfLine(this.#source.text, base + (error.mark?.position ?? 0));
      const line = this.#source.line(this.#source.position(range.start).line);
      this.#report(
        reason.startsWith('nesting exceeded')
          ? {
              code: 'yaml.too-deep',
              message: `mappings and lists are nested more than ${this.#limits.maxDepth} levels deep`,
              hint: 'No document this program reads needs that; look for a missing closing bracket.',
            }
          : { code: 'yaml.syntax', message: `not valid YAML: ${reason}`, ...syntaxHint(reason, line, atEnd) },
        range,
      );
    }
  }

  #document(text: string, events: readonly Event[], from: number, base: number): void {
    const { value, usable, problems } = compose(text, events, from, {
      limits: this.#limits,
      refuseTags: this.#refuseTags,
    });
    const source = this.#source;
    const before = this.#diagnostics.length;
    for (const problem of problems) {
      this.#report(this.#describe(problem, base), { start: problem.start + base, end: problem.end + base });
    }
    let places: Places | undefined;
    this.#documents.push({
      value,
      usable,
      empty: value === null && nextRange(text, events, from, -1).start < 0,
      source,
      diagnostics: this.#diagnostics.slice(before),
      place: (path, part) => {
        places ??= new Places(text, events, from);
        const found = places.find(path, part);
        return placeOf(
          source,
          found ? { start: found.start + base, end: found.end + base } : nextRange(text, events, from, base),
        );
      },
    });
  }

  #describe(problem: PlacedProblem, base: number): Finding {
    switch (problem.kind) {
      case 'duplicate-key': {
        const first = this.#source.position(problem.first + base);
        const message = `the key '${problem.key}' stands here a second time; first on line ${first.line}, column ${first.column}`;
        return problem.same
          ? { severity: 'warning', code: 'yaml.duplicate-key', message, hint: 'Both give the same value: remove one.' }
          : { code: 'yaml.duplicate-key', message, hint: 'The two differ: keep the one you mean.' };
      }
      case 'complex-key':
        return {
          code: 'yaml.complex-key',
          message: 'a mapping or list cannot be a key',
          hint: 'Quote the key if it is text.',
        };
      case 'unknown-tag':
        return {
          code: 'yaml.unknown-tag',
          message: `the YAML tag ${problem.tag} is not allowed here`,
          hint: 'Remove the tag; quote the value if it is text.',
        };
      case 'tag-value':
        return { code: 'yaml.tag-value', message: `'${excerpt(problem.text)}' is no value for the tag ${problem.tag}` };
      case 'unknown-alias':
        return {
          code: 'yaml.unknown-alias',
          message: `there is no anchor '&${problem.name}' above in this document`,
          hint:
            didYouMean(problem.name, problem.known) ??
            `Quote the value if the text '*${problem.name}' is meant; anchors hold within one document only.`,
        };
      case 'recursive-alias':
        return {
          code: 'yaml.recursive-alias',
          message: `the anchor '&${problem.name}' contains itself`,
          hint: 'A document is a finite tree: write the inner part out.',
        };
      case 'merge-value':
        return { code: 'yaml.merge-value', message: "'<<' takes a mapping or a list of mappings" };
      case 'too-many-aliases':
        return {
          code: 'yaml.too-many-aliases',
          message: `the document uses anchors more than ${problem.limit} times`,
          hint: 'Split the document, or write values out.',
        };
      case 'alias-expansion':
        return {
          code: 'yaml.alias-expansion',
          message: `written out in full, the aliases of this document are more than ${problem.limit} values`,
          hint: 'Aliases of aliases multiply: write out what is meant.',
        };
    }
  }

  #report(finding: Finding, range: Range): void {
    if (this.#diagnostics.length > MAX_FINDINGS) return;
    if (this.#diagnostics.length === MAX_FINDINGS) {
      finding = { code: 'yaml.more-problems', message: `more than ${MAX_FINDINGS} problems: the rest is not listed` };
    }
    const place = placeOf(this.#source, range);
    const { severity = 'error', ...rest } = finding;
    this.#diagnostics.push({
      severity,
      ...rest,
      ...(this.#source.file !== undefined && { file: this.#source.file }),
      line: place.line,
      column: place.column,
      ...(place.text !== '' && { text: place.text }),
    });
  }
}

type Finding = Pick<Diagnostic, 'code' | 'message' | 'hint'> & { readonly severity?: Diagnostic['severity'] };

function placeOf(source: SourceText, range: Range): Place {
  return {
    ...source.position(range.start),
    text: excerpt(source.text.slice(range.start, Math.min(range.end, range.start + 800))),
  };
}

/** The first place named by the events from `from` on; `base` when none is (an empty document). */
function nextRange(text: string, events: readonly Event[], from: number, base: number): Range {
  const event = events[from];
  const [start, end] = event ? eventRange(text, event) : [-1, -1];
  return start < 0 ? { start: base, end: base } : { start: Math.max(base, 0) + start, end: Math.max(base, 0) + end };
}

function restOfLine(text: string, start: number): Range {
  const length = text.slice(start).search(/[\r\n]/);
  return { start, end: length < 0 ? text.length : Math.max(start + 1, start + length) };
}

/** An error found at the end of a document lies further up; its last line is the nearest that can be shown. */
function lastLine(text: string, base: number): Range {
  const end = text.trimEnd().length;
  const start = Math.max(text.lastIndexOf('\n', end - 1), text.lastIndexOf('\r', end - 1)) + 1;
  const indent = /^[ \t\uFEFF]*/.exec(text.slice(start, end))![0].length;
  return { start: base + start + indent, end: base + end };
}

function syntaxHint(reason: string, line: string, atEnd: boolean): { hint?: string } {
  if (atEnd) return { hint: 'The document ends here: a quote or bracket is opened above and not closed.' };
  if (/tab characters/.test(reason)) return { hint: 'Indent with spaces.' };
  if (/^\s*[-\w]*:?\s*[{%@`]/.test(line) && /\{\{|^\s*[%@`]|:\s[%@`]/.test(line)) {
    return { hint: 'Quote a value that begins with one of { } [ ] % @ ` & * ! | >.' };
  }
  if (/bad indentation|expected ':'|multiline key|end of the stream or a document separator/.test(reason)) {
    return { hint: 'Look at the indentation of this line and the one before, and for a missing colon or quote.' };
  }
  if (/unexpected end of the stream/.test(reason)) return { hint: 'A quote or bracket is opened and not closed.' };
  return {};
}
