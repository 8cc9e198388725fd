import { YaqlError } from '../errors.ts';
import { Dict, DictView, Tuple, ValueSet } from '../values/collections.ts';
import { DONE, LazyIterator, pullFrom } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { bitLength } from '../values/numbers.ts';
import { textLength } from '../values/text.ts';
import { work } from '../values/work.ts';

/** Options of an engine for evaluation. Names follow the reference implementation's `yaql.*` options. */
export interface EvaluationOptions {
  /** Most elements drawn from an iterable argument and from each level of the result; negative: no limit. */
  readonly limitIterators: number;
  /** Most bytes one value may take, estimated by CPython's object sizes, not counting contents; 0 or less: no limit. */
  readonly memoryQuota: number;
  /** Turns lists, dicts and sets of the data into immutable values. */
  readonly convertInputData: boolean;
  /** Turns the result into plain lists and dicts. */
  readonly convertOutputData: boolean;
  readonly convertTuplesToLists: boolean;
  readonly convertSetsToLists: boolean;
  /** Lets dicts be used where something iterable is asked for (their keys). */
  readonly iterableDicts: boolean;
  /** Most calls and drawn elements of one evaluation. Not in the reference implementation. */
  readonly maxSteps: number;
  /** Most steps of regular expression matching in one evaluation. Not in the reference implementation. */
  readonly maxRegexSteps: number;
  /** Limit of nested calls. */
  readonly maxDepth: number;
  /** Microseconds since 1970 UTC, for `now()`; without it that function fails, since evaluation is deterministic. */
  readonly clock?: () => bigint;
  /** From 0 inclusive to 1 exclusive, for `random()`; without it that function fails. */
  readonly random?: () => number;
  /** Microseconds east of UTC of the local zone, for `localtz()`; UTC when absent. */
  readonly localOffset?: bigint;
}

export const defaultOptions: EvaluationOptions = {
  limitIterators: -1,
  memoryQuota: -1,
  convertInputData: true,
  convertOutputData: true,
  convertTuplesToLists: true,
  convertSetsToLists: false,
  iterableDicts: false,
  maxSteps: 1_000_000,
  maxRegexSteps: 5_000_000,
  maxDepth: 250,
};

/** Largest text or list an expression may build where no quota is set, in characters or items. */
const maxLength = 20_000_000;

/** So many elements cost a step. */
const ELEMENTS_PER_STEP = 16;

/** Steps that several evaluations have together. */
export interface StepBudget {
  steps: number;
}

/** The remaining budgets of one evaluation. */
export class Runtime {
  readonly options: EvaluationOptions;
  readonly quota: number;
  readonly limit: number;
  steps: number;
  regexSteps: number;
  depth = 0;

  /** @param shared steps left for this evaluation and others */
  constructor(options: EvaluationOptions, shared?: StepBudget) {
    work.elements = 0;
    this.options = options;
    this.quota = Math.max(0, options.memoryQuota);
    this.limit = options.limitIterators;
    this.steps = Math.min(options.maxSteps, shared?.steps ?? options.maxSteps);
    this.regexSteps = options.maxRegexSteps;
  }

  step(): void {
    if (--this.steps < 0) throw new YaqlError('StepQuotaExceededException', 'The evaluation takes too many steps');
  }

  /** Takes the steps for the work of functions since the last call. */
  payForWork(): void {
    if (work.elements < ELEMENTS_PER_STEP) return;
    this.steps -= work.elements / ELEMENTS_PER_STEP;
    work.elements = 0;
    if (this.steps < 0) throw new YaqlError('StepQuotaExceededException', 'The evaluation takes too many steps');
  }

  /** MemoryQuotaExceededException when the value is larger than the quota. */
  checkMemory(value: Value): void {
    if (this.quota > 0 && isLarge(value, this.quota) && sizeOf(value) > this.quota) throw memoryExceeded();
  }

  /** The same for several values that exist together. */
  checkMemoryOf(...parts: readonly (readonly [number | bigint, Value])[]): void {
    if (this.quota === 0) return;
    let total = 0;
    for (const [count, value] of parts) {
      total += Number(count) * sizeOf(value);
      if (total > this.quota) throw memoryExceeded();
    }
  }

  /** The same for a set of that many members, which a function keeps for itself. */
  checkSetMemory(members: number): void {
    if (this.quota > 0 && setSize(members) > this.quota) throw memoryExceeded();
  }

  /** Refuses to build a text or list of this many characters or items. */
  checkLength(length: number): void {
    if (length > maxLength) throw memoryExceeded();
    // Copying takes time too: text that grows in a loop is paid for by its length.
    if (length > 1000) {
      this.steps -= Math.floor(length / 256);
      this.step();
    }
  }

  /**
   * Applies the limit on elements: a collection of known length is refused immediately, an iterator fails at the first
   * element beyond the limit. Views of values and ordered iterables become iterators by this, as in the reference.
   */
  limitIterable(value: Value): Value {
    const size = knownSize(value);
    if (size >= 0) {
      if (this.limit >= 0 && size > this.limit) throw tooLarge(this.limit);
      return value;
    }
    const pull = pullFrom(value);
    let left = this.limit;
    if (left < 0) {
      return new LazyIterator(() => {
        this.step();
        return pull();
      });
    }
    return new LazyIterator(() => {
      this.step();
      const item = pull();
      if (item !== DONE && --left < 0) throw tooLarge(this.limit);
      return item;
    });
  }
}

const memoryExceeded = (): YaqlError =>
  new YaqlError('MemoryQuotaExceededException', 'Expression consumed too much memory');
const tooLarge = (limit: number): YaqlError =>
  new YaqlError('CollectionTooLargeException', `Collection length exceeds ${limit} elements`);

function knownSize(value: Value): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple) return value.items.length;
  if (value instanceof Dict || value instanceof ValueSet) return value.size;
  return value instanceof DictView && value.part !== 'values' ? value.size : -1;
}

/** A cheap test that accepts nearly every value without computing its size. */
function isLarge(value: Value, quota: number): boolean {
  if (typeof value === 'number' || value === null || typeof value === 'boolean') return quota < 40;
  if (typeof value === 'string') return 76 + 4 * value.length > quota;
  return true;
}

/** Roughly CPython 3.11's `sys.getsizeof`: the object itself, without its references. */
function sizeOf(value: Value): number {
  switch (typeof value) {
    case 'string':
      return textSize(value);
    case 'number':
      return Number.isInteger(value) ? 28 + 4 * Math.max(0, Math.ceil(bitLength(value) / 30) - 1) : 24;
    case 'bigint': {
      const bits = bitLength(value);
      // Arithmetic with it takes as long as it is.
      work.elements += bits >> 4;
      return 24 + 4 * Math.ceil(bits / 30);
    }
    case 'boolean':
      return 28;
    default:
      if (value === null) return 16;
      if (Array.isArray(value)) return 56 + 8 * value.length;
      if (value instanceof Tuple) return 40 + 8 * value.items.length;
      if (value instanceof Dict) return value.frozen ? 56 : dictSize(value.size);
      if (value instanceof ValueSet) return setSize(value.size);
      return 48;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: CPython stores text by the width of its widest character.
const beyondAscii = /[^\x00-\x7f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same.
const beyondLatin = /[^\x00-\xff]/;

function textSize(text: string): number {
  if (!beyondAscii.test(text)) return 49 + text.length;
  if (!beyondLatin.test(text)) return 73 + text.length;
  const length = textLength(text);
  return length === text.length ? 74 + 2 * length : 76 + 4 * length;
}

function dictSize(entries: number): number {
  if (entries === 0) return 64;
  let slots = 8;
  while (Math.floor((slots * 2) / 3) < entries) slots *= 2;
  return 96 + slots * (slots > 256 ? 2 : 1) + Math.floor((slots * 2) / 3) * (slots === 8 ? 16 : 24);
}

function setSize(members: number): number {
  let slots = 8;
  while (members * 5 >= slots * 3) slots *= members > 50_000 ? 2 : 4;
  return slots === 8 ? 216 : 216 + slots * 16;
}
