import { kindOf } from '../../core/plain-value.js';
import { GraphProblemError } from '../problem.js';

/**
 * How many of `total` nodes of a group may fail. A number as it is, `"N%"` rounded down, a negative one: so many must
 * not fail; absent or text that is no number: one more than there are, so never. Throws GraphProblemError for the rest.
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
      'Write a number or "N%", or leave it out.',
    );
  const percent = typeof text === 'string' && text.endsWith('%');
  const number = typeof text === 'string' ? wholeNumber(percent ? text.slice(0, -1) : text) : Math.trunc(Number(text));
  if (number === undefined) return never;
  const value = percent ? Math.floor((number * total) / 100) : number;
  return value < 0 ? Math.max(0, total + value) : value;
}

const wholeNumber = (text: string): number | undefined =>
  /^\s*[-+]?\d+\s*$/.test(text) ? Number(text.trim()) : undefined;
