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
  const code: Instruction[] = [];
  let registers = (groups + 1) * 2;

  const emit = (node: PatternNode): void => {
    const test = singleTest(node);
    if (test !== null) {
      code.push({ op: 'character', test });
      return;
    }
    switch (node.type) {
      case 'sequence':
        for (const item of node.items) emit(item);
        return;
      case 'alternation':
        emitAlternation(node.options);
        return;
      case 'assertion':
        code.push({ op: 'assert', at: node.at });
        return;
      case 'group':
        code.push({ op: 'save', register: node.index * 2 });
        emit(node.body);
        code.push({ op: 'save', register: node.index * 2 + 1 });
        return;
      case 'plain-group':
        emit(node.body);
        return;
      case 'backreference':
        code.push({ op: 'backreference', index: node.index, ignoreCase: node.ignoreCase, ascii: node.ascii });
        return;
      case 'look':
        emitNested({ op: 'look', behind: node.behind, negative: node.negative, width: node.width, end: 0 }, node.body);
        return;
      case 'atomic':
        emitNested({ op: 'atomic', end: 0 }, node.body);
        return;
      case 'conditional': {
        const choice = { op: 'conditional' as const, index: node.index, otherwise: 0 };
        code.push(choice);
        emit(node.yes);
        const jump = { op: 'jump' as const, target: 0 };
        code.push(jump);
        choice.otherwise = code.length;
        emit(node.no);
        jump.target = code.length;
        return;
      }
      case 'repeat':
        emitRepeat(node);
        return;
      default:
        throw new Error(`unreachable: ${node.type}`);
    }
  };

  const emitNested = (instruction: Instruction & { end: number }, body: PatternNode): void => {
    code.push(instruction);
    emit(body);
    code.push({ op: 'accept' });
    instruction.end = code.length;
  };

  const emitAlternation = (options: readonly PatternNode[]): void => {
    const jumps: { op: 'jump'; target: number }[] = [];
    options.forEach((option, i) => {
      if (i === options.length - 1) {
        emit(option);
        return;
      }
      const split = { op: 'split' as const, first: code.length + 1, second: 0 };
      code.push(split);
      emit(option);
      const jump = { op: 'jump' as const, target: 0 };
      jumps.push(jump);
      code.push(jump);
      split.second = code.length;
    });
    for (const jump of jumps) jump.target = code.length;
  };

  const emitRepeat = (node: PatternNode & { type: 'repeat' }): void => {
    const test = singleTest(node.body);
    if (test !== null) {
      code.push({ op: 'run', test, min: node.min, max: node.max, mode: node.mode });
      return;
    }
    if (node.mode === 'possessive') {
      emitNested({ op: 'atomic', end: 0 }, { ...node, mode: 'greedy' });
      return;
    }
    const count = registers++;
    const last = registers++;
    const start = { op: 'loop-start' as const, count, last, until: 0 };
    code.push(start);
    const body = code.length;
    emit(node.body);
    start.until = code.length;
    code.push({
      op: 'until',
      count,
      last,
      min: node.min,
      max: node.max === unlimited ? Infinity : node.max,
      lazy: node.mode === 'lazy',
      body,
    });
  };

  emit(root);
  code.push({ op: 'accept' });
  return { code, registers };
}
