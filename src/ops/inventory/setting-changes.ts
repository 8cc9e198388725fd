import { isSecretKey } from '../../graph/view/shown-value.ts';
import type { Json, JsonObject } from '../../store/index.ts';
import { isObject, objectOf, sameJson } from './json-object.ts';

/** A changed setting with its values; `null` where it was not, or is no more. Values of secrets are never in it. */
type SettingChange = {
  readonly setting: string;
  readonly before: Json;
  readonly after: Json;
};

const MASK = '[secret]';

/** What differs between two states of the settings, setting by setting, for the audit trail. */
export function settingChanges(before: JsonObject, after: JsonObject): readonly SettingChange[] {
  const found: SettingChange[] = [];
  for (const group of namesIn(before, after)) {
    const [old, now] = [objectOf(before[group]), objectOf(after[group])];
    for (const name of namesIn(old, now)) {
      if (sameJson(old[name] ?? null, now[name] ?? null)) continue;
      const secret = [old[name], now[name]].some((one) => objectOf(one).type === 'password') || isSecretKey(name);
      const shown = (one: Json | undefined): Json => (one === undefined ? null : secret ? MASK : shownValueOf(one));
      found.push({ setting: `${group}.${name}`, before: shown(old[name]), after: shown(now[name]) });
    }
  }
  return found;
}

const namesIn = (one: JsonObject, other: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();

/** The value of a setting, without what declares it. */
function shownValueOf(setting: Json): Json {
  if (!isObject(setting)) return setting;
  const { value } = setting;
  return value === undefined ? withoutSecrets(setting) : withoutSecrets(value);
}

function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, isSecretKey(key) ? MASK : withoutSecrets(one as Json)]),
  );
}
