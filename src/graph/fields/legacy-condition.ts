import { GraphProblemError } from '../problem.ts';
import type { Found } from './state.ts';
import { truthy } from './truth.ts';

/** Data for a condition of the older language, by the word before the colon: `settings:a.b`, `cluster:a.b`. */
export type ConditionModels = Readonly<Record<string, (path: readonly string[]) => Found>>;

type Evaluate = (models: ConditionModels) => unknown;

/** A condition in the older language of settings: `settings:a.value == true and not cluster:b in 'text'`. */
export interface LegacyCondition {
  readonly evaluate: Evaluate;
  /** Paths it reads, as `model:path`, after rewriting. */
  readonly paths: readonly string[];
}

/**
 * Conditions were written for settings as users edit them; the data of a run has the sections `common` and
 * `additional_components` merged into the top level, and `.value` removed. So paths are rewritten before reading.
 */
function rewriteForRun(text: string): string {
  return withoutValues(
    text
      .replace(/settings:additional_components\.(\w+)(\.value)?/g, 'settings:$1.enabled')
      .replace(/settings:common\.([^\n])([^\n]value)?/g, 'settings:$1'),
  );
}

const SETTINGS = 'settings:';
const VALUE = 'value';

/**
 * Takes `.value` off paths of settings: in each line, from `settings:` to the next `value` that no dot follows, with the
 * character before it. Looks at each character a fixed number of times.
 */
function withoutValues(text: string): string {
  let out = '';
  let [from, value, lineEnd] = [0, -1, -1];
  for (let at = text.indexOf(SETTINGS); at >= 0; at = text.indexOf(SETTINGS, Math.max(from, at + 1))) {
    const path = at + SETTINGS.length;
    if (lineEnd < path) lineEnd = (text.indexOf('\n', path) + 1 || text.length + 1) - 1;
    // A path has a character at least, and there is one before `value`.
    while (value < path + 2 || text[value + VALUE.length] === '.') {
      value = text.indexOf(VALUE, Math.max(path + 2, value + 1));
      if (value < 0) return out + text.slice(from);
    }
    if (value > lineEnd) continue;
    out += text.slice(from, value - 1);
    from = value + VALUE.length;
  }
  return out + text.slice(from);
}

/** Throws GraphProblemError (`graph.bad-condition`) for a text that is not a condition. */
export function parseLegacyCondition(text: string): LegacyCondition {
  refuseLong(text);
  return parse(rewriteForRun(text), text);
}

/** A condition over settings as users edit them, as in restrictions and limits of roles: nothing is rewritten. */
export function parseSettingsCondition(text: string): LegacyCondition {
  refuseLong(text);
  return parse(text, text);
}

function refuseLong(text: string): void {
  if (text.length <= LONGEST) return;
  throw bad(`the condition has more than ${LONGEST} characters: ${text.slice(0, 100)}`, 'Split it.');
}

/** Ten times the longest one of a real release: time and depth of a condition are bounded by its length. */
const LONGEST = 10_000;
const DEEPEST = 50;

function parse(rewritten: string, text: string): LegacyCondition {
  const parser = new Parser(tokens(rewritten), text);
  return { evaluate: parser.whole(), paths: parser.paths };
}

interface Token {
  readonly kind: 'literal' | 'path' | 'operator' | '(' | ')';
  readonly text: string;
  readonly value?: unknown;
}

// Order as in the original lexer: words need no delimiters, and text that is not a token is skipped.
const BEFORE_PATH = String.raw`(?<number>-?\d+)|(?<string>(["'])[^\n]*?\3)|(?<word>true|false|null)`;
const AFTER_PATH = '(?<operator>and|not|or|in|==|!=)|(?<bracket>[()])';
const TOKEN = new RegExp(String.raw`${BEFORE_PATH}|(?<path>\w*:[\w.-]+)|${AFTER_PATH}`, 'y');
// In a word that no path begins with: looking for a colon from each of its letters takes a time of its square.
const TOKEN_BUT_PATH = new RegExp(`${BEFORE_PATH}|${AFTER_PATH}`, 'y');
const WORD = /\w*/y;
const REST_OF_PATH = /:[\w.-]/y;

const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

function tokens(text: string): Token[] {
  const out: Token[] = [];
  let [wordEnd, isPath] = [-1, false];
  for (let at = 0; at < text.length; ) {
    if (at > wordEnd) {
      WORD.lastIndex = at;
      WORD.exec(text);
      wordEnd = WORD.lastIndex;
      REST_OF_PATH.lastIndex = wordEnd;
      isPath = REST_OF_PATH.test(text);
    }
    const token = isPath ? TOKEN : TOKEN_BUT_PATH;
    token.lastIndex = at;
    const groups = token.exec(text)?.groups;
    if (groups === undefined) {
      at += 1;
      continue;
    }
    at = token.lastIndex;
    const { number, string, word, path, operator, bracket } = groups;
    if (number !== undefined) out.push({ kind: 'literal', text: number, value: Number(number) });
    else if (string !== undefined) out.push({ kind: 'literal', text: string, value: string.slice(1, -1) });
    else if (word !== undefined) out.push({ kind: 'literal', text: word, value: WORDS[word] });
    else if (path !== undefined) out.push({ kind: 'path', text: path });
    else if (operator !== undefined) out.push({ kind: 'operator', text: operator });
    else out.push({ kind: bracket as '(' | ')', text: bracket! });
  }
  return out;
}

/** Lowest precedence first; operators of one level are left-associative, and `not` has the precedence of `in`. */
const LEVELS: readonly (readonly string[])[] = [['or'], ['and'], ['==', '!='], ['in']];

class Parser {
  readonly paths: string[] = [];
  #at = 0;
  #depth = 0;
  readonly #tokens: readonly Token[];
  readonly #text: string;

  constructor(tokens: readonly Token[], text: string) {
    this.#tokens = tokens;
    this.#text = text;
  }

  whole(): Evaluate {
    const evaluate = this.#level(0);
    if (this.#at < this.#tokens.length) this.#fail();
    return evaluate;
  }

  #level(level: number): Evaluate {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#level(level + 1);
    for (
      let token = this.#tokens[this.#at];
      token?.kind === 'operator' && operators.includes(token.text);
      token = this.#tokens[this.#at]
    ) {
      this.#at += 1;
      left = binary(token.text, left, this.#level(level + 1));
    }
    return left;
  }

  #unary(): Evaluate {
    this.#depth += 1;
    if (this.#depth > DEEPEST)
      throw bad(
        `the condition is nested more than ${DEEPEST} levels deep: ${this.#text.slice(0, 100)}`,
        'Simplify it.',
      );
    const evaluate = this.#operand();
    this.#depth -= 1;
    return evaluate;
  }

  #operand(): Evaluate {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token?.kind === 'literal') return () => token.value;
    if (token?.kind === 'path') return this.#path(token.text);
    if (token?.kind === 'operator' && token.text === 'not') {
      const operand = this.#unary();
      return (models) => !truthy(operand(models));
    }
    if (token?.kind === '(') {
      const inner = this.#level(0);
      if (this.#tokens[this.#at]?.kind !== ')') this.#fail();
      this.#at += 1;
      return inner;
    }
    this.#at -= 1;
    return this.#fail();
  }

  #path(text: string): Evaluate {
    const [model, path] = text.split(':') as [string, string];
    this.paths.push(text);
    return (models) => {
      const read = Object.hasOwn(models, model) ? models[model] : undefined;
      if (read === undefined) {
        const known = Object.keys(models).map((name) => `${name}:`);
        throw bad(`the condition reads '${model}:', which does not exist`, `Use ${known.join(' or ')}.`);
      }
      const found = read(path.split('.'));
      if ('error' in found) throw bad(`${text}: ${found.error}`, 'Correct the path.');
      return found.value;
    };
  }

  #fail(): never {
    const token = this.#tokens[this.#at];
    const where = token === undefined ? 'ends too early' : `does not fit at '${token.text}'`;
    throw bad(
      `the condition ${where}: ${this.#text.slice(0, 100)}`,
      'Text is a condition of the older language; write {yaql_exp: "…"} for YAQL.',
    );
  }
}

const bad = (message: string, hint: string): GraphProblemError =>
  new GraphProblemError('graph.bad-condition', message, hint);

function binary(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  switch (operator) {
    case 'or':
      return (models) => {
        const value = left(models);
        return truthy(value) ? value : right(models);
      };
    case 'and':
      return (models) => {
        const value = left(models);
        return truthy(value) ? right(models) : value;
      };
    case '==':
      return (models) => equal(left(models), right(models));
    case '!=':
      return (models) => !equal(left(models), right(models));
    default:
      return (models) => contains(right(models), left(models));
  }
}

/** Python's equality of JSON data: true is 1, false is 0. */
function equal(a: unknown, b: unknown): boolean {
  const [left, right] = [numeric(a), numeric(b)];
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [keysA, keysB] = [Object.keys(left), Object.keys(right)];
  if (keysA.length !== keysB.length) return false;
  return keysA.every((key) => Object.hasOwn(right, key) && equal((left as never)[key], (right as never)[key]));
}

const numeric = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : (value ?? null));

function contains(container: unknown, item: unknown): boolean {
  if (typeof container === 'string' && typeof item === 'string') return container.includes(item);
  if (Array.isArray(container)) return container.some((one) => equal(one, item));
  if (typeof container === 'object' && container !== null)
    return typeof item === 'string' && Object.hasOwn(container, item);
  throw bad("'in' needs text, a list or a mapping on its right", 'Correct the condition.');
}
