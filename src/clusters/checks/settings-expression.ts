import { type Fields, GraphProblemError } from '../../graph/index.js';
import { parseSettingsCondition } from '../../graph/settings-condition.js';

/** Data that conditions of roles may name, by the word before the colon: `settings:storage.volumes_ceph.value`. */
export type ExpressionModels = Readonly<Record<string, Fields>>;

/** A value, with the paths that led nowhere and so counted as null; or why there is none. */
export type ExpressionResult =
  | { readonly ok: true; readonly value: unknown; readonly missing: readonly string[] }
  | { readonly ok: false; readonly message: string };

/**
 * Works out a condition in the language restrictions and limits are written in, over settings as users edit them.
 * What a path does not find is null, as for the forms of users: a role must not become unusable by a setting that a
 * release does not have.
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

/** What the language takes for true. */
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
