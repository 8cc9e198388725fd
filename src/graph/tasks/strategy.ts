import { isMapping, kindOf, type ValuePath } from '../../core/data/plain-value.ts';
import { GraphProblemError } from '../problem.ts';
import type { Fields } from './task.ts';

/** What is wrong with the strategy of a task, with its place in it. */
export interface StrategyProblem {
  readonly path: ValuePath;
  readonly message: string;
  readonly hint: string;
}

/**
 * Checks a strategy, or the part of it that is known.
 *
 * @param isOpen of a value that is computed later
 */
export function strategyProblems(
  strategy: unknown,
  isOpen: (value: unknown) => boolean = () => false,
): StrategyProblem[] {
  if (!isMapping(strategy))
    return [
      {
        path: [],
        message: `strategy must be a mapping, not ${kindOf(strategy)}`,
        hint: 'Write {type: parallel, amount: 3}.',
      },
    ];
  const { type, amount } = strategy;
  const found: StrategyProblem[] = [];
  if (!isOpen(type) && type !== 'parallel' && type !== 'one_by_one')
    found.push({
      path: ['type'],
      message: `${JSON.stringify(type ?? null)} is not a strategy`,
      hint: 'Use parallel or one_by_one.',
    });
  if (amount !== undefined && !isOpen(amount) && !(Number.isInteger(amount) && (amount as number) >= 0))
    found.push({
      path: ['amount'],
      message: `amount must be a whole number of 0 or more, not ${JSON.stringify(amount)}`,
      hint: 'Remove it for no limit.',
    });
  return found;
}

/** Parameters of a planned task, whose strategy may be computed. @throws GraphProblemError */
export function withStrategy<P extends Fields>(parameters: P): P {
  const { strategy } = parameters;
  const [wrong] = strategy === undefined || strategy === null ? [] : strategyProblems(strategy);
  if (wrong === undefined) return parameters;
  throw new GraphProblemError('graph.bad-task', wrong.message, wrong.hint, ['parameters', 'strategy', ...wrong.path]);
}
