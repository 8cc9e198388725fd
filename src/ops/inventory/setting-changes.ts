import { SECRET } from '../../core/setting-change-text.ts';
import { isSecretKey } from '../../core/text/secrets.ts';
import type { Json, JsonObject } from '../../store/index.ts';
import { isObject, objectOf, sameJson } from './json-object.ts';

/** A changed setting with its values; `null` where it was not, or is no more. Values of secrets are never in it. */
type SettingChange = {
  readonly setting: string;
  readonly before: Json;
  readonly after: Json;
};

/** What differs between two states of the settings, value by value: for the audit trail, and the history. */
export function settingChanges(before: JsonObject, after: JsonObject): readonly SettingChange[] {
  return namesIn(before, after).flatMap((group) => {
    const [old, now] = [objectOf(before[group]), objectOf(after[group])];
    return namesIn(old, now).flatMap((name) => {
      const isSecret = [old[name], now[name]].some((one) => objectOf(one).type === 'password');
      const [from, to] = [old[name], now[name]].map((one) => chosenIn(name, one)) as [Value, Value];
      return differences(`${group}.${name}`, from, to, isSecret || isSecretKey(name));
    });
  });
}

type Value = Json | undefined;

/** What of a group's metadata is chosen by people. The rest declares the group. */
const CHOSEN: readonly string[] = ['enabled', 'plugin_version'];

/** The value of a setting, without what declares it. */
function chosenIn(name: string, setting: Value): Value {
  if (!isObject(setting)) return setting;
  if (name === 'metadata') return Object.fromEntries(Object.entries(setting).filter(([key]) => CHOSEN.includes(key)));
  return setting.value === undefined ? setting : setting.value;
}

/** Mappings are compared key by key. */
function differences(setting: string, before: Value, after: Value, isSecret: boolean): readonly SettingChange[] {
  if (before === undefined && after === undefined) return [];
  if (before !== undefined && after !== undefined && sameJson(before, after)) return [];
  const parts = [before, after].filter((one) => one !== undefined);
  if (!isSecret && parts.every(isObject) && parts.some((one) => Object.keys(one).length > 0)) {
    const [old, now] = [objectOf(before), objectOf(after)];
    return namesIn(old, now).flatMap((key) => differences(`${setting}.${key}`, old[key], now[key], isSecretKey(key)));
  }
  const shown = (one: Value): Json => (one === undefined ? null : isSecret ? SECRET : withoutSecrets(one));
  return [{ setting, before: shown(before), after: shown(after) }];
}

const namesIn = (one: JsonObject, other: JsonObject): readonly string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();

function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, isSecretKey(key) ? SECRET : withoutSecrets(one as Json)]),
  );
}
