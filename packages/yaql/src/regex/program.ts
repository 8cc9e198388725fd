import type { CharacterClass } from './characters.ts';
import { foldCase } from './characters.ts';
import { type Assertion, type PatternNode, type RepeatMode, unlimited } from './syntax-tree.ts';

/** Test of one character. */
type CharacterTest = (code: number) => boolean;

/**
 * Instructions of the matcher. `next` is implicit (the following instruction) except where a target is named.
 * Registers hold group bounds (2 per group) and, for loops, a count and the position of the last round.
 */
type Instruction =
  | { readonly op: 'character'; readonly test: CharacterTest }
  | { readonly op: 'assert'; readonly at: Assertion }
  | { readonly op: 'save'; readonly register: number }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; target: number }
  | { readonly op: 'backreference'; readonly index: number; readonly ignoreCase: boolean; readonly ascii: boolean }
  /** Runs its body up to `accept` as a match of its own, then goes to `end`. */
  | { readonly op: 'look'; readonly behind: boolean; readonly negative: boolean; readonly width: number; end: number }
  | { readonly op: 'atomic'; end: number }
  | { readonly op: 'conditional'; readonly index: number; otherwise: number }
  /** A run of single characters, which needs no loop in the program. */
  | {
      readonly op: 'run';
      readonly test: CharacterTest;
      readonly min: number;
      readonly max: number;
      readonly mode: RepeatMode;
    }
  | { readonly op: 'loop-start'; readonly count: number; readonly last: number; until: number }
  | {
      readonly op: 'until';
      readonly count: number;
      readonly last: number;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
      readonly body: number;
    }
  | { readonly op: 'accept' };

export interface Program {
  readonly code: readonly Instruction[];
  readonly registers: number;
}

const classTest =
  (set: CharacterClass): CharacterTest =>
  (code) =>
    set.has(code);

/** The test of a node that always matches exactly one character; null for other nodes. */
function singleTest(node: PatternNode): CharacterTest | null {
  switch (node.type) {
    case 'any':
      return node.dotAll ? () => true : (code) => code !== 10;
    case 'class':
      return classTest(node.set);
    case 'character': {
      const { code: wanted, ignoreCase, ascii } = node;
      if (!ignoreCase) return (code) => code === wanted;
      const folded = foldCase(wanted, ascii);
      return (code) => code === wanted || foldCase(code, ascii) === folded;
    }
    case 'plain-group':
      return singleTest(node.body);
    default:
      return null;
  }
}

export function compilePattern(root: PatternNode, groups: number): Program {
  return new Compilation(groups).compile(root);
}

class Compilation {
  readonly #code: Instruction[] = [];
  #registers: number;

  constructor(groups: number) {
    this.#registers = (groups + 1) * 2;
  }

  compile(root: PatternNode): Program {
    this.#emit(root);
    this.#code.push({ op: 'accept' });
    return { code: this.#code, registers: this.#registers };
  }

  #emit(node: PatternNode): void {
    const test = singleTest(node);
    if (test !== null) {
      this.#code.push({ op: 'character', test });
      return;
    }
    switch (node.type) {
      case 'sequence':
        for (const item of node.items) this.#emit(item);
        return;
      case 'alternation':
        this.#emitAlternation(node.options);
        return;
      case 'assertion':
        this.#code.push({ op: 'assert', at: node.at });
        return;
      case 'group':
        this.#code.push({ op: 'save', register: node.index * 2 });
        this.#emit(node.body);
        this.#code.push({ op: 'save', register: node.index * 2 + 1 });
        return;
      case 'plain-group':
        this.#emit(node.body);
        return;
      case 'backreference':
        this.#code.push({ op: 'backreference', index: node.index, ignoreCase: node.ignoreCase, ascii: node.ascii });
        return;
      case 'look':
        this.#emitNested(
          { op: 'look', behind: node.behind, negative: node.negative, width: node.width, end: 0 },
          node.body,
        );
        return;
      case 'atomic':
        this.#emitNested({ op: 'atomic', end: 0 }, node.body);
        return;
      case 'conditional': {
        const choice = { op: 'conditional' as const, index: node.index, otherwise: 0 };
        this.#code.push(choice);
        this.#emit(node.yes);
        const jump = { op: 'jump' as const, target: 0 };
        this.#code.push(jump);
        choice.otherwise = this.#code.length;
        this.#emit(node.no);
        jump.target = this.#code.length;
        return;
      }
      case 'repeat':
        this.#emitRepeat(node);
        return;
      default:
        throw new Error(`unreachable: ${node.type}`);
    }
  }

  #emitNested(instruction: Instruction & { end: number }, body: PatternNode): void {
    this.#code.push(instruction);
    this.#emit(body);
    this.#code.push({ op: 'accept' });
    instruction.end = this.#code.length;
  }

  #emitAlternation(options: readonly PatternNode[]): void {
    const jumps: { op: 'jump'; target: number }[] = [];
    options.forEach((option, i) => {
      if (i === options.length - 1) {
        this.#emit(option);
        return;
      }
      const split = { op: 'split' as const, first: this.#code.length + 1, second: 0 };
      this.#code.push(split);
      this.#emit(option);
      const jump = { op: 'jump' as const, target: 0 };
      jumps.push(jump);
      this.#code.push(jump);
      split.second = this.#code.length;
    });
    for (const jump of jumps) jump.target = this.#code.length;
  }

  #emitRepeat(node: PatternNode & { type: 'repeat' }): void {
    const test = singleTest(node.body);
    if (test !== null) {
      this.#code.push({ op: 'run', test, min: node.min, max: node.max, mode: node.mode });
      return;
    }
    if (node.mode === 'possessive') {
      this.#emitNested({ op: 'atomic', end: 0 }, { ...node, mode: 'greedy' });
      return;
    }
    const count = this.#registers++;
    const last = this.#registers++;
    const start = { op: 'loop-start' as const, count, last, until: 0 };
    this.#code.push(start);
    const body = this.#code.length;
    this.#emit(node.body);
    start.until = this.#code.length;
    this.#code.push({
      op: 'until',
      count,
      last,
      min: node.min,
      max: node.max === unlimited ? Infinity : node.max,
      lazy: node.mode === 'lazy',
      body,
    });
  }
}
