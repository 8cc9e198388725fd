import { isSecretKey } from '../../core/text/secrets.ts';
import type { Json, JsonObject } from '../../store/index.ts';
import { namesIn, type Value, valueDifferences } from '../value-differences.ts';
import { isObject, objectOf } from './json-object.ts';

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
      return valueDifferences(`${group}.${name}`, from, to, isSecret || isSecretKey(name)).map(
        ({ path: setting, ...values }) => ({ setting, ...values }),
      );
    });
  });
}

/** What of a group's metadata is chosen by people. The rest declares the group. */
const CHOSEN: readonly string[] = ['enabled', 'plugin_version'];

/** The value of a setting, without what declares it. */
function chosenIn(name: string, setting: Value): Value {
  if (!isObject(setting)) return setting;
  if (name === 'metadata') return Object.fromEntries(Object.entries(setting).filter(([key]) => CHOSEN.includes(key)));
  return setting.value === undefined ? setting : setting.value;
}
