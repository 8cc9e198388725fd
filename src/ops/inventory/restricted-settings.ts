import { checkRestrictions } from '../../clusters/checks/restrictions.ts';
import type { ExpressionModels } from '../../clusters/checks/settings-expression.ts';
import { given } from '../../core/data/given.ts';
import type { Json, JsonObject } from '../../store/index.ts';
import { isObject, objectOf } from './json-object.ts';

/** A setting, a group, or one value of a setting, that a condition of a release or plugin restricts. */
interface RestrictedSetting {
  readonly setting: string;
  readonly choice?: Json;
  readonly action: string;
  readonly message?: string;
}

/** What the declared restrictions of these settings forbid, by the values of these settings. */
export function restrictedSettings(editable: JsonObject, models: ExpressionModels): readonly RestrictedSetting[] {
  const under = (restrictions: unknown, at: Pick<RestrictedSetting, 'setting' | 'choice'>): RestrictedSetting[] =>
    checkRestrictions(restrictions, models).holding.map(({ action = 'disable', message }) => ({
      ...at,
      action,
      ...given({ message }),
    }));
  return Object.entries(editable).flatMap(([group, settings]) =>
    Object.entries(objectOf(settings)).flatMap(([name, setting]) => {
      if (!isObject(setting)) return [];
      if (name === 'metadata') return under(setting.restrictions, { setting: group });
      const choices = Array.isArray(setting.values) ? setting.values.filter(isObject) : [];
      const at = `${group}.${name}`;
      return [
        ...under(setting.restrictions, { setting: at }),
        ...choices.flatMap((one) => under(one.restrictions, { setting: at, choice: one.data ?? null })),
      ];
    }),
  );
}
