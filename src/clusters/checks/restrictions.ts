import { isMapping } from '../../core/data/plain-value.ts';
import { type ExpressionModels, evaluateExpression, isTrue } from './settings-expression.ts';

/** A restriction in its full form: while the condition is true, its subject may not be used. */
interface Restriction {
  readonly condition: string;
  readonly message?: string;
  /** The reaction of forms: `disable` (default), `hide`, `none`. */
  readonly action?: string;
}

interface RestrictionResult {
  /** Restrictions with true conditions. */
  readonly holding: readonly Restriction[];
  /** Conditions that cannot be evaluated, or that read missing values. */
  readonly doubts: readonly { readonly condition: string; readonly message: string }[];
}

/** Accepts a condition alone, a pair of condition and message, or the full form. */
export function expandRestriction(given: unknown): Restriction | undefined {
  if (typeof given === 'string') return { condition: given };
  if (!isMapping(given)) return undefined;
  const fields = given as Readonly<Record<string, unknown>>;
  if (typeof fields.condition === 'string') {
    const { condition, message, action } = fields;
    return {
      condition,
      ...(typeof message === 'string' ? { message } : {}),
      ...(typeof action === 'string' ? { action } : {}),
    };
  }
  const [pair, ...more] = Object.entries(fields);
  if (pair === undefined || more.length > 0 || typeof pair[1] !== 'string') return undefined;
  return { condition: pair[0], message: pair[1] };
}

export function checkRestrictions(restrictions: unknown, models: ExpressionModels): RestrictionResult {
  const holding: Restriction[] = [];
  const doubts: { condition: string; message: string }[] = [];
  for (const given of Array.isArray(restrictions) ? (restrictions as readonly unknown[]) : []) {
    const restriction = expandRestriction(given);
    if (restriction === undefined) continue;
    const result = evaluateExpression(restriction.condition, models);
    if (!result.ok) doubts.push({ condition: restriction.condition, message: result.message });
    else {
      for (const path of result.missing) {
        doubts.push({ condition: restriction.condition, message: `there is no ${path}; it counts as null` });
      }
      if (isTrue(result.value)) holding.push(restriction);
    }
  }
  return { holding, doubts };
}
