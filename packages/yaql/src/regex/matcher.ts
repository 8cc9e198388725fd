import { YaqlError } from '../errors.ts';
import { foldCase, isAsciiWord, isWord } from './characters.ts';
import type { Program } from './program.ts';
import type { Assertion } from './syntax-tree.ts';

/** The remaining work budget of matching, shared by all matches of one evaluation. */
export interface MatchBudget {
  regexSteps: number;
}

/** Stands in the place of a choice's limit: going back to it means one more round of a lazy loop. */
const anotherRound = -2;

/** Depth of look-arounds and atomic groups inside one another at run time. */
const maxNesting = 150;

/**
 * Backtracking matcher over code points. Choices and undo information are on explicit stacks and every step is paid
 * from a budget, so that neither a long text nor a catastrophic pattern can exhaust the call stack or the clock.
 */
export class Matcher {
  readonly #program: Program;
  readonly #text: readonly number[];
  readonly #budget: MatchBudget;
  readonly registers: number[];
  /** Choice points: instruction, position, length of the trail, limit (of a run) — four numbers each. */
  readonly #choices: number[] = [];
  /** Register and its former value, two numbers each. */
  readonly #trail: number[] = [];
  #end = 0;
  #nesting = 0;

  constructor(program: Program, text: readonly number[], budget: MatchBudget) {
    this.#program = program;
    this.#text = text;
    this.#budget = budget;
    this.registers = new Array<number>(program.registers).fill(-1);
  }

  /** Matches at exactly this position; an empty match is refused when `mustAdvance`. Sets the group registers. */
  matchAt(position: number, mustAdvance: boolean): boolean {
    this.registers.fill(-1);
    this.#choices.length = 0;
    this.#trail.length = 0;
    if (!this.#run(0, position, mustAdvance ? position : -1)) return false;
    this.registers[0] = position;
    this.registers[1] = this.#end;
    return true;
  }

  #setRegister(register: number, value: number): void {
    this.#trail.push(register, this.registers[register] as number);
    this.registers[register] = value;
  }

  #undo(length: number): void {
    const trail = this.#trail;
    const registers = this.registers;
    while (trail.length > length) {
      const value = trail.pop() as number;
      registers[trail.pop() as number] = value;
    }
  }

  /** Runs from an instruction to `accept`; leaves the end in `this.end` and its own choices discarded. */
  #run(start: number, from: number, refusedEnd: number): boolean {
    const { code } = this.#program;
    const text = this.#text;
    const choices = this.#choices;
    const trail = this.#trail;
    const budget = this.#budget;
    const base = choices.length;
    let pc = start;
    let position = from;
    for (;;) {
      if (--budget.regexSteps < 0)
        throw new YaqlError('StepQuotaExceededException', 'The regular expression takes too many steps');
      const instruction = code[pc] as Program['code'][number];
      let ok = true;
      switch (instruction.op) {
        case 'character':
          if (position < text.length && instruction.test(text[position] as number)) {
            position++;
            pc++;
          } else ok = false;
          break;
        case 'assert':
          if (holds(instruction.at, text, position)) pc++;
          else ok = false;
          break;
        case 'save':
          this.#setRegister(instruction.register, position);
          pc++;
          break;
        case 'split':
          choices.push(instruction.second, position, trail.length, -1);
          pc = instruction.first;
          break;
        case 'jump':
          pc = instruction.target;
          break;
        case 'run': {
          const most = Math.min(instruction.max, text.length - position);
          const wanted = instruction.mode === 'lazy' ? instruction.min : most;
          let n = 0;
          if (instruction.min > most) {
            ok = false;
            break;
          }
          while (n < wanted && instruction.test(text[position + n] as number)) n++;
          budget.regexSteps -= n;
          if (n < instruction.min) {
            ok = false;
            break;
          }
          if (instruction.mode === 'greedy') {
            if (n > instruction.min) choices.push(pc, position + n, trail.length, position + instruction.min);
          } else if (instruction.mode === 'lazy' && n < most) {
            choices.push(pc, position + n, trail.length, position + most);
          }
          position += n;
          pc++;
          break;
        }
        case 'backreference': {
          const length = this.#repeatedLength(instruction.index, instruction.ignoreCase, instruction.ascii, position);
          if (length < 0) ok = false;
          else {
            position += length;
            pc++;
          }
          break;
        }
        case 'conditional':
          pc = (this.registers[instruction.index * 2 + 1] as number) >= 0 ? pc + 1 : instruction.otherwise;
          break;
        case 'look': {
          const mark = trail.length;
          const at = instruction.behind ? position - instruction.width : position;
          const found = at >= 0 && this.#nested(pc + 1, at);
          if (found === instruction.negative) ok = false;
          else {
            if (instruction.negative) this.#undo(mark);
            pc = instruction.end;
          }
          break;
        }
        case 'atomic':
          if (this.#nested(pc + 1, position)) {
            position = this.#end;
            pc = instruction.end;
          } else ok = false;
          break;
        case 'loop-start':
          this.#setRegister(instruction.count, 0);
          this.#setRegister(instruction.last, -1);
          pc = instruction.until;
          break;
        case 'until': {
          const count = this.registers[instruction.count] as number;
          if (count < instruction.min) {
            this.#setRegister(instruction.count, count + 1);
            pc = instruction.body;
          } else {
            // A round that consumed nothing is not followed by another one.
            const again = count < instruction.max && position !== this.registers[instruction.last];
            if (!again) pc++;
            else if (instruction.lazy) {
              choices.push(pc, position, trail.length, anotherRound);
              pc++;
            } else {
              choices.push(pc + 1, position, trail.length, -1);
              this.#setRegister(instruction.count, count + 1);
              this.#setRegister(instruction.last, position);
              pc = instruction.body;
            }
          }
          break;
        }
        case 'accept':
          if (position === refusedEnd) ok = false;
          else {
            this.#end = position;
            choices.length = base;
            return true;
          }
      }
      if (ok) continue;
      // Back to the latest choice that is still open.
      for (;;) {
        if (choices.length === base) return false;
        const limit = choices.pop() as number;
        this.#undo(choices.pop() as number);
        position = choices.pop() as number;
        pc = choices.pop() as number;
        const chosen = code[pc] as Program['code'][number];
        if (limit >= 0 && chosen.op === 'run') {
          if (chosen.mode === 'greedy') {
            position--;
            if (position > limit) choices.push(pc, position, trail.length, limit);
          } else {
            budget.regexSteps--;
            if (!chosen.test(text[position] as number)) continue;
            position++;
            if (position < limit) choices.push(pc, position, trail.length, limit);
          }
          pc++;
        } else if (limit === anotherRound && chosen.op === 'until') {
          this.#setRegister(chosen.count, (this.registers[chosen.count] as number) + 1);
          this.#setRegister(chosen.last, position);
          pc = chosen.body;
        }
        break;
      }
    }
  }

  #nested(start: number, position: number): boolean {
    if (++this.#nesting > maxNesting) throw new YaqlError('RecursionError', 'regular expression nests too deeply');
    const found = this.#run(start, position, -1);
    this.#nesting--;
    return found;
  }

  #repeatedLength(index: number, ignoreCase: boolean, ascii: boolean, position: number): number {
    const start = this.registers[index * 2] as number;
    const end = this.registers[index * 2 + 1] as number;
    if (start < 0 || end < start) return -1;
    const length = end - start;
    if (position + length > this.#text.length) return -1;
    this.#budget.regexSteps -= length;
    for (let i = 0; i < length; i++) {
      const a = this.#text[start + i] as number;
      const b = this.#text[position + i] as number;
      if (a !== b && !(ignoreCase && foldCase(a, ascii) === foldCase(b, ascii))) return -1;
    }
    return length;
  }
}

function holds(at: Assertion, text: readonly number[], position: number): boolean {
  switch (at) {
    case 'text-start':
      return position === 0;
    case 'text-end':
      return position === text.length;
    case 'line-start':
      return position === 0 || text[position - 1] === 10;
    case 'line-end':
      return position === text.length || text[position] === 10;
    case 'end-or-final-newline':
      return position === text.length || (position === text.length - 1 && text[position] === 10);
    case 'word-boundary':
      return text.length > 0 && boundary(text, position, isWord);
    case 'no-word-boundary':
      return text.length > 0 && !boundary(text, position, isWord);
    case 'ascii-word-boundary':
      return text.length > 0 && boundary(text, position, isAsciiWord);
    case 'no-ascii-word-boundary':
      return text.length > 0 && !boundary(text, position, isAsciiWord);
  }
}

function boundary(text: readonly number[], position: number, word: (code: number) => boolean): boolean {
  const before = position > 0 && word(text[position - 1] as number);
  const after = position < text.length && word(text[position] as number);
  return before !== after;
}
