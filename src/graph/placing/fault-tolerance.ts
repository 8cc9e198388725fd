import { kindOf } from '../../core/data/plain-value.ts';
import { GraphProblemError } from '../problem.ts';

/**
 * How many of `total` nodes of a group may fail: a number, `"N%"` rounded down, or a negative number of nodes that must
 * not fail. If absent or text that is not a number: one more than `total`. Throws GraphProblemError for other values.
 */
export function faultTolerance(given: unknown, total: number): number {
  const never = total + 1;
  if (given === undefined || given === null) return never;
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') {
    throw new GraphProblemError(
      'graph.bad-fault-tolerance',
      `fault_tolerance is ${kindOf(given)}`,
      'Write a number or "N%".',
    );
  }
  const text = typeof given === 'string' ? given.trim() : given;
  if (text === '')
    throw new GraphProblemError(
      'graph.bad-fault-tolerance',
      'fault_tolerance is empty',
      'Write a number or "N%", or remove it.',
    );
  const percent = typeof text === 'string' && text.endsWith('%');
  const number = typeof text === 'string' ? wholeNumber(percent ? text.slice(0, -1) : text) : Math.trunc(Number(text));
  if (number === undefined) return never;
  const value = percent ? Math.floor((number * total) / 100) : number;
  return value < 0 ? Math.max(0, total + value) : value;
}

const wholeNumber = (text: string): number | undefined =>
  /^\s*[-+]?\d+\s*$/.test(text) ? Number(text.trim()) : undefined;
