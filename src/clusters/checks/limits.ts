import { isMapping } from '../../core/data/plain-value.ts';
import { type ExpressionModels, evaluateExpression, isTrue } from './settings-expression.ts';

type LimitType = 'min' | 'max' | 'recommended';
const TYPES: readonly LimitType[] = ['min', 'max', 'recommended'];

/** A violated limit on a number of nodes. */
interface LimitFailure {
  readonly type: LimitType;
  readonly limit: number;
  /** The role's own message, if it has one. */
  readonly message?: string;
}

/**
 * Compares the number of nodes with a role to its limits: `min`, `max`, `recommended`, each a number or an expression.
 * If the condition of an override is true, its limits replace the role's own. Of several failures of one kind, reports
 * the strictest limit.
 */
export function checkLimits(limits: unknown, count: number, models: ExpressionModels): readonly LimitFailure[] {
  const own = fieldsOf(limits);
  const holds = (condition: unknown): boolean => {
    if (typeof condition !== 'string') return true;
    const result = evaluateExpression(condition, models);
    return result.ok && isTrue(result.value);
  };
  const overrides = (Array.isArray(own.overrides) ? own.overrides : [])
    .map(fieldsOf)
    .filter(({ condition }) => typeof condition === 'string' && holds(condition));
  return TYPES.flatMap((type) => {
    const overriding = overrides.filter((override) => override[type] !== undefined);
    const sources = overriding.length > 0 ? overriding : holds(own.condition) ? [own] : [];
    const failures = sources.flatMap((source): LimitFailure[] => {
      const limit = limitOf(source[type], models);
      if (limit === undefined || !(type === 'max' ? count > limit : count < limit)) return [];
      return [{ type, limit, ...(typeof source.message === 'string' ? { message: source.message } : {}) }];
    });
    failures.sort((a, b) => (type === 'max' ? a.limit - b.limit : b.limit - a.limit));
    return failures.slice(0, 1);
  });
}

function limitOf(given: unknown, models: ExpressionModels): number | undefined {
  let value = given;
  if (typeof given === 'string' && !/^\s*\d+\s*$/.test(given)) {
    const result = evaluateExpression(given, models);
    value = result.ok ? result.value : undefined;
  }
  const number =
    typeof value === 'number' ? Math.trunc(value) : typeof value === 'string' ? Number.parseInt(value, 10) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isMapping(value) ? (value as Readonly<Record<string, unknown>>) : {};
