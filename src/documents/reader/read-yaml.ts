import { EVENT_ID, type Event, SCALAR_STYLE, YAMLException } from 'js-yaml';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import { type Composed, composeYaml, type EventSource } from './compose-yaml.ts';
import type { YamlDialect } from './dialect.ts';
import { locate, type SourceRange, type SourceText } from './source-text.ts';
import type { YamlBuilder } from './yaml-builder.ts';
import { eventRange, parseYamlEvents, type Rereading, rereadingOf } from './yaml-events.ts';
import { syntaxHint, type Wording, wordProblem } from './yaml-problems.ts';

/** One document of a YAML text. */
export interface ReadDocument<T> extends Composed<T> {
  /** True when there is nothing between two document markers. */
  readonly empty: boolean;
  /** Problems of its values; the problems of the text include them. */
  readonly problems: readonly Diagnostic[];
}

interface YamlText<T> {
  readonly documents: readonly ReadDocument<T>[];
  readonly problems: readonly Diagnostic[];
  /** False after a syntax error or an exceeded limit: `documents` is incomplete then. */
  readonly complete: boolean;
}

/**
 * Reads a YAML text of any number of documents. Never throws for input: `problems` lists all problems if the
 * text can be parsed; a syntax error affects only its own document.
 */
export const readYaml = <T>(source: SourceText, dialect: YamlDialect, build: YamlBuilder<T>): YamlText<T> =>
  new YamlTextReader(source, dialect, build).run();

/** A file with more problems than this is the wrong file; listing a million of them helps no one. */
const MAX_FINDINGS = 1_000;

const SPLIT_HINT = 'Split it into several files; they are read together.';

class YamlTextReader<T> {
  readonly #source: SourceText;
  readonly #dialect: YamlDialect;
  readonly #build: YamlBuilder<T>;
  readonly #documents: ReadDocument<T>[] = [];
  readonly #problems: Diagnostic[] = [];
  readonly #rereading: Rereading;
  #complete = true;

  constructor(source: SourceText, dialect: YamlDialect, build: YamlBuilder<T>) {
    this.#source = source;
    this.#dialect = dialect;
    this.#build = build;
    this.#rereading = rereadingOf(source.text);
  }

  run(): YamlText<T> {
    const { text } = this.#source;
    const { maxBytes } = this.#dialect.limits;
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes) {
      const message = `the file has ${bytes} bytes; ${maxBytes} are allowed`;
      this.#refuse('yaml.too-large', { message, hint: SPLIT_HINT }, 0, 0);
    } else if (!this.#refuseByMarks(text) && !this.#parse(text, 0)) this.#parseOneByOne(text);
    return { documents: this.#documents, problems: this.#problems, complete: this.#complete };
  }

  /** The parser makes events of the whole text before anything can be counted in them: count the needs of values. */
  #refuseByMarks(text: string): boolean {
    const { maxDocuments, maxMarks } = this.#dialect.limits;
    const { documents, marks, at } = countMarks(text, maxDocuments, maxMarks);
    if (documents > maxDocuments) {
      const message = `the file has more than ${maxDocuments} documents`;
      this.#refuse('yaml.too-many-documents', { message, hint: SPLIT_HINT }, at, at);
    } else if (marks > maxMarks) {
      const message = `the file has more than ${maxMarks} lines and commas`;
      this.#refuse('yaml.too-many-values', { message, hint: SPLIT_HINT }, at, at);
    }
    return !this.#complete;
  }

  /** True when the whole text could be parsed. `base` is its offset in the source. */
  #parse(text: string, base: number): boolean {
    let events: Event[];
    try {
      events = parseYamlEvents(text, this.#dialect.limits.maxDepth, this.#rereading);
    } catch (error) {
      if (error instanceof YAMLException) return false;
      throw error;
    }
    const from = { source: this.#source, text, base, events };
    const tab = this.#dialect.tabs ? undefined : strayTab(text, events);
    if (tab !== undefined) {
      const at = { source: this.#source, start: base + tab, end: base + tab };
      this.#report('yaml.syntax', () => wordProblem({ kind: 'stray-tab' }), at);
    }
    const { maxDocuments } = this.#dialect.limits;
    for (let index = 0; index < events.length; index++) {
      if (events[index]!.type !== EVENT_ID.DOCUMENT) continue;
      if (this.#documents.length >= maxDocuments) {
        const { start, end } = eventRange(text, events[index + 1]!);
        const message = `the file has more than ${maxDocuments} documents`;
        this.#refuse('yaml.too-many-documents', { message, hint: SPLIT_HINT }, base + Math.max(start, 0), base + end);
        break;
      }
      this.#document(from, index + 1);
    }
    return true;
  }

  /** Parses each document alone, so that a syntax error in one does not hide the problems of others. */
  #parseOneByOne(text: string): void {
    // %TAG directives precede the marker of their document, so the text cannot be split: report the first error only.
    const starts = /^%/m.test(text) ? [] : [...text.matchAll(/^---(?=\s|$)/gm)].map((match) => match.index);
    if (starts[0] !== 0) starts.unshift(0);
    const { maxDocuments } = this.#dialect.limits;
    if (starts.length > maxDocuments) starts.length = maxDocuments;
    starts.forEach((start, index) => {
      const part = text.slice(start, starts[index + 1] ?? text.length);
      if (!this.#parse(part, start)) this.#syntaxError(part, start);
    });
    if (!this.#problems.some(isError)) this.#syntaxError(text, 0);
  }

  #syntaxError(text: string, base: number): void {
    const { maxDepth } = this.#dialect.limits;
    try {
      parseYamlEvents(text, maxDepth, this.#rereading);
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const { reason, mark } = error;
      const position = mark?.position ?? 0;
      const atEnd = position >= text.trimEnd().length;
      const [start, end] = atEnd ? lastLine(text, base) : restOfLine(this.#source.text, base + position);
      // js-yaml gives this reason only when its option maxDepth is exceeded.
      if (reason.startsWith('nesting exceeded')) {
        const message = `mappings and lists are nested more than ${maxDepth} levels deep`;
        const hint = 'No valid document needs that; look for a missing closing bracket.';
        this.#refuse('yaml.too-deep', { message, hint }, start, end);
      } else {
        const hint = syntaxHint(reason, this.#source.line(this.#source.position(start).line), atEnd);
        this.#refuse('yaml.syntax', { message: `not valid YAML: ${reason}`, ...(hint && { hint }) }, start, end);
      }
    }
  }

  #document(from: EventSource, next: number): void {
    const before = this.#problems.length;
    const { root, usable } = composeYaml(from, next, this.#dialect, this.#build, (problem, at) =>
      this.#report(this.#dialect.codeOf(problem.kind), () => wordProblem(problem), at),
    );
    const first = from.events[next]!;
    const empty = first.type === EVENT_ID.SCALAR && eventRange(from.text, first).start < 0;
    this.#documents.push({ root, usable, empty, problems: this.#problems.slice(before) });
  }

  /** Reports a problem that leaves part of the text unread. */
  #refuse(code: string, wording: Wording, start: number, end: number): void {
    this.#complete = false;
    this.#report(code, () => wording, { source: this.#source, start, end });
  }

  #report(code: string, wording: () => Wording, at: SourceRange): void {
    const count = this.#problems.length;
    if (count > MAX_FINDINGS) return;
    const more = { code: 'yaml.more-problems', message: `more than ${MAX_FINDINGS} problems: the rest is not listed` };
    const { line, column, text } = locate(at);
    const { file } = this.#source;
    this.#problems.push({
      severity: 'error',
      ...(count === MAX_FINDINGS ? more : { code, ...wording() }),
      ...(file !== undefined && { file }),
      line,
      column,
      ...(text && { text }),
    });
  }
}

/** Counts document markers, lines with content and commas up to their limits; `at` is where it stopped. */
function countMarks(text: string, maxDocuments: number, maxMarks: number) {
  // A first marker opens the first document.
  let documents = /^(?:---|\s*#)/.test(text) ? 0 : 1;
  let marks = 0;
  let at = 0;
  for (let start = 0; start < text.length; start = at + 1) {
    const next = text.indexOf('\n', start);
    at = next < 0 ? text.length : next;
    const line = text.slice(start, at);
    if (/^\s*(?:#|$)/.test(line)) continue;
    marks += 1;
    for (let comma = line.indexOf(','); comma >= 0 && marks <= maxMarks; comma = line.indexOf(',', comma + 1))
      marks += 1;
    if (/^---(?:\s|$)/.test(line)) documents += 1;
    if (documents > maxDocuments || marks > maxMarks) break;
  }
  return { documents, marks, at: Math.min(at, text.length) };
}

function restOfLine(text: string, start: number): [number, number] {
  const length = text.slice(start).search(/[\r\n]/);
  return [start, length < 0 ? text.length : Math.max(start + 1, start + length)];
}

/** The cause of an error at the end of a document is further up; its last line is the nearest place known. */
function lastLine(text: string, base: number): [number, number] {
  const end = text.trimEnd().length;
  const start = Math.max(text.lastIndexOf('\n', end - 1), text.lastIndexOf('\r', end - 1)) + 1;
  const indent = /^[ \t\uFEFF]*/.exec(text.slice(start, end))![0].length;
  return [base + start + indent, base + end];
}

const protectedStyles: ReadonlySet<unknown> = new Set([
  SCALAR_STYLE.SINGLE_QUOTED,
  SCALAR_STYLE.DOUBLE_QUOTED,
  SCALAR_STYLE.LITERAL_BLOCK,
  SCALAR_STYLE.FOLDED_BLOCK,
]);

/**
 * Offset of the first tab outside quoted text, text blocks and comments; undefined when there
 * is none. YAML allows tabs between words and at line ends; PyYAML, which packages were written for, does not.
 */
function strayTab(text: string, events: readonly Event[]): number | undefined {
  if (!text.includes('\t')) return undefined;
  let at = 0;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || !protectedStyles.has(event.style) || event.valueStart < 0) continue;
    const found = tabBetween(text, at, event.valueStart);
    if (found !== undefined) return found;
    at = event.valueEnd;
  }
  return tabBetween(text, at, text.length);
}

function tabBetween(text: string, start: number, end: number): number | undefined {
  for (let at = start; at < end; at++) {
    const c = text[at];
    if (c === '\t') return at;
    if (c !== '#' || !/\s/.test(text[at - 1] ?? '\n')) continue;
    while (at < end && text[at] !== '\n' && text[at] !== '\r') at++;
  }
  return undefined;
}
