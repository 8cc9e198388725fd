import { parseSettingsCondition } from '../../graph/fields/legacy-condition.ts';
import { type Fields, GraphProblemError } from '../../graph/index.ts';

/** Data for the conditions of roles, by the name before the colon: `settings:storage.volumes_ceph.value`. */
export type ExpressionModels = Readonly<Record<string, Fields>>;

/** A value, with the missing paths that counted as null; or why there is none. */
type ExpressionResult =
  | { readonly ok: true; readonly value: unknown; readonly missing: readonly string[] }
  | { readonly ok: false; readonly message: string };

/**
 * Evaluates a condition in the language of restrictions and limits, over settings as users edit them. A missing path is
 * null, as in users' forms, so that a setting that the release lacks does not make a role unusable.
 */
export function evaluateExpression(text: string, models: ExpressionModels): ExpressionResult {
  const missing: string[] = [];
  const readers = Object.fromEntries(
    Object.entries(models).map(([name, data]) => [
      name,
      (path: readonly string[]) => {
        const value = valueAt(data, path);
        if (value === undefined) missing.push(`${name}:${path.join('.')}`);
        return { value: value ?? null };
      },
    ]),
  );
  try {
    return { ok: true, value: parseSettingsCondition(text).evaluate(readers), missing };
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    return { ok: false, message: error.message };
  }
}

/** Whether the language treats a value as true. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Fields)[key];
  }
  return value;
}
