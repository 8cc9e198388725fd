import { SECRET } from '../core/setting-change-text.ts';
import { isSecretKey } from '../core/text/secrets.ts';
import type { Json, JsonObject } from '../store/index.ts';
import { isObject, objectOf, sameJson } from './inventory/json-object.ts';

/** Of a setting, or of a resolved document. */
export type Value = Json | undefined;

/** A changed value; `null` where it was not, or is no more. Secrets are never in it. */
interface ValueDifference {
  /** As `data.disks[0].size`. */
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
}

/** What differs, value by value: mappings key by key, lists item by item. */
export function valueDifferences(path: string, before: Value, after: Value, isSecret: boolean): ValueDifference[] {
  if (before === undefined && after === undefined) return [];
  if (before !== undefined && after !== undefined && sameJson(before, after)) return [];
  const parts = [before, after].filter((one) => one !== undefined);
  if (!isSecret && parts.every(isObject) && parts.some((one) => Object.keys(one).length > 0)) {
    const [old, now] = [objectOf(before), objectOf(after)];
    return namesIn(old, now).flatMap((key) => valueDifferences(`${path}.${key}`, old[key], now[key], isSecretKey(key)));
  }
  // Of lists of mappings alone: the order of plain values is part of what a list says.
  if (!isSecret && parts.every((one) => Array.isArray(one) && one.length > 0 && one.every(isObject))) {
    const [old, now] = [before ?? [], after ?? []] as [Json[], Json[]];
    return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => at).flatMap((at) =>
      valueDifferences(`${path}[${at}]`, old[at], now[at], false),
    );
  }
  const shown = (one: Value): Json => (one === undefined ? null : isSecret ? SECRET : withoutSecrets(one));
  return [{ path, before: shown(before), after: shown(after) }];
}

export const namesIn = (one: JsonObject, other: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();

function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, isSecretKey(key) ? SECRET : withoutSecrets(one as Json)]),
  );
}
