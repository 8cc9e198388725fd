import type { Json, JsonObject } from '../../store/index.ts';
import { faultsOf } from './check-settings.ts';
import { isObject, objectOf, sameJson } from './json-object.ts';

interface Move {
  /** As the cluster has them. */
  readonly now: JsonObject;
  /** As the version declares them that is left, and the one that is moved to. */
  readonly from: JsonObject;
  readonly to: JsonObject;
  /** Earlier states, newest first: a setting that a version did not have gets the value it had before. */
  readonly earlier: readonly JsonObject[];
}

/**
 * The settings of a cluster under the declarations of another version. A value that was chosen stays where the new version
 * allows it; one that was the default becomes the new default. What only the version declared that is left goes, and what
 * nobody declares stays.
 */
export function movedSettings({ now, from, to, earlier }: Move): JsonObject {
  const groups = [...new Set([...Object.keys(to), ...Object.keys(now)])];
  return Object.fromEntries(
    groups.flatMap((name) => {
      const group = movedGroup(
        objectOf(now[name]),
        objectOf(from[name]),
        objectOf(to[name]),
        earlier.map((one) => objectOf(one[name])),
      );
      return Object.keys(group).length === 0 ? [] : [[name, group]];
    }),
  );
}

/** The same for one group. */
export function movedGroup(
  now: JsonObject,
  from: JsonObject,
  to: JsonObject,
  earlier: readonly JsonObject[],
): JsonObject {
  const names = [...new Set([...Object.keys(to), ...Object.keys(now)])];
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const [current, declared] = [now[name], to[name]];
      if (declared === undefined) return current === undefined || Object.hasOwn(from, name) ? [] : [[name, current]];
      if (name === 'metadata')
        return [[name, withSwitch(objectOf(declared), objectOf(current ?? earlier.find(has(name))?.[name]))]];
      if (!isObject(declared)) return [[name, current ?? declared]];
      const held = current ?? earlier.find(has(name))?.[name];
      return [[name, valueUnder(declared, held, from[name])]];
    }),
  );
}

const has = (name: string) => (group: JsonObject) => Object.hasOwn(group, name);

/** Whether the group is switched on is the cluster's choice. */
const withSwitch = (declared: JsonObject, held: JsonObject): JsonObject =>
  typeof held.enabled === 'boolean' && typeof declared.enabled === 'boolean'
    ? { ...declared, enabled: held.enabled }
    : declared;

function valueUnder(declared: JsonObject, held: Json | undefined, before: Json | undefined): Json {
  if (!isObject(held) || held.value === undefined) return declared;
  const isDefault = isObject(before) && sameJson(before.value, held.value);
  if (isDefault || faultsOf(declared, held.value).length > 0) return declared;
  return { ...declared, value: held.value };
}
