import { isMapping } from '../core/data/plain-value.ts';
import type { Fields } from '../graph/index.ts';
import { mergeOver } from './merge-over.ts';

/**
 * Settings as tasks see them: the value of every setting in its group, with `metadata`. Settings of the group `common`
 * move to the top level, and each choice in `additional_components` becomes `enabled` of the group with its name.
 * Edited values override generated ones. These are the reference's rules (`merged_attrs_values`).
 *
 * @param settings `{editable, generated}`, or the groups themselves
 */
export function flattenSettings(settings: Fields): Fields {
  const flat = new Map<string, unknown>(
    Object.entries(mergedSettings(settings)).map(([name, group]) => [name, valuesOf(group)]),
  );
  const common = flat.get('common');
  flat.delete('common');
  if (isMapping(common)) for (const [name, value] of Object.entries(common)) flat.set(name, value);
  const components = flat.get('additional_components');
  flat.delete('additional_components');
  if (isMapping(components)) {
    for (const [name, enabled] of Object.entries(components)) {
      if (typeof enabled !== 'boolean') continue;
      const group = flat.get(name);
      flat.set(name, { ...(isMapping(group) ? group : {}), enabled });
    }
  }
  return Object.fromEntries(flat);
}

/** Settings in their groups, edited over generated ones. */
export function mergedSettings(settings: Fields): Fields {
  const isSplit = isMapping(settings.editable) || isMapping(settings.generated);
  const part = (name: string): Fields => (isMapping(settings[name]) ? settings[name] : {});
  return isSplit ? mergeOver(part('generated'), part('editable')) : settings;
}

/** The settings declared as passwords, by their paths in what tasks see. */
export function passwordSettings(settings: Fields): ReadonlySet<string> {
  const paths = Object.entries(mergedSettings(settings)).flatMap(([group, of]) =>
    Object.entries(isMapping(of) ? of : {}).flatMap(([name, one]) =>
      isMapping(one) && one.type === 'password' ? [group === 'common' ? name : `${group}.${name}`] : [],
    ),
  );
  return new Set(paths);
}

/** The version in `newton-10.0`. */
export const environmentVersion = (version: string): string | undefined => /-(\d+(?:\.\d+)*)$/.exec(version)?.[1];

/** A group with each setting replaced by its value; other entries stay. */
export function valuesOf(group: unknown): unknown {
  if (!isMapping(group)) return group;
  return Object.fromEntries(
    Object.entries(group).map(([name, one]) => [name, isMapping(one) && Object.hasOwn(one, 'value') ? one.value : one]),
  );
}

/** Whether the setting with this name is on, in any group; undefined if no group has it. */
export function settingSwitch(settings: Fields, name: string): boolean | undefined {
  const groups = isMapping(settings.editable) ? settings.editable : settings;
  const given = Object.values(groups).flatMap((group) => {
    if (!isMapping(group) || !Object.hasOwn(group, name)) return [];
    const one = group[name];
    const value = isMapping(one) ? one.value : one;
    return typeof value === 'boolean' ? [value] : [];
  });
  return given.length === 0 ? undefined : given.includes(true);
}

/** The setting "Tags resolution engine", in any group of the settings. */
const TAGS_ENGINE = 'tags_resolution_engine';

/**
 * Whether the tags assigned to nodes decide where tasks run: unless the setting is off. Removing all tags is a decision,
 * too. Without manual changes of tags, both ways give the same result.
 */
export const usesTagsEngine = (settings: Fields): boolean => settingSwitch(settings, TAGS_ENGINE) ?? true;

/** The command that turns it on again, in the group in which it is off. */
export function turnOnTagsEngine({ id, settings }: { readonly id: number; readonly settings: Fields }): string {
  const groups = Object.entries(mergedSettings(settings));
  const [group] = groups.find(([, of]) => isMapping(of) && TAGS_ENGINE in of) ?? ['common'];
  return `sitewright cluster settings ${id} --set ${group}.${TAGS_ENGINE}=true`;
}
