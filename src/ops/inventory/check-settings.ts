import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { isObject, objectOf } from './json-object.ts';

/** Kinds of settings with checked values; other kinds, for example of plugins, accept any value. */
const VALUE_RULES: Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly called: string }>> = {
  checkbox: { is: (value) => typeof value === 'boolean', called: 'true or false' },
  text: { is: (value) => typeof value === 'string', called: 'text' },
  textarea: { is: (value) => typeof value === 'string', called: 'text' },
  password: { is: (value) => typeof value === 'string', called: 'text' },
  number: { is: (value) => typeof value === 'number', called: 'a number' },
  text_list: { is: isTextList, called: 'a list of strings' },
  textarea_list: { is: isTextList, called: 'a list of strings' },
  custom_repo_configuration: {
    is: (value) => Array.isArray(value) && value.every((one) => isObject(one) && typeof one.uri === 'string'),
    called: 'a list of repositories, each an object with a uri',
  },
};

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/**
 * Checks sent settings: `editable` is an object of groups, each an object of settings with values of their kinds, or
 * with the stored value.
 * Whether anything reads them is the question of `unreadSettings`.
 */
export function checkSettings(sent: unknown, known: unknown): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const refuse = (path: string, message: string, hint: string) =>
    found.push({ severity: 'error', code: 'settings.wrong-value', message, hint, path });
  if (!isObject(sent)) {
    refuse(
      'body.editable',
      'editable must be an object of settings groups',
      'Send the answer of GET back with your changes.',
    );
    return found;
  }
  for (const [group, settings] of Object.entries(sent)) {
    const at = `body.editable.${group}`;
    if (!isObject(settings)) {
      refuse(at, `the settings group '${group}' must be an object`, 'Send the answer of GET back with your changes.');
      continue;
    }
    for (const [name, setting] of Object.entries(settings)) {
      if (name === 'metadata' || !isObject(setting) || !Object.hasOwn(setting, 'value')) continue;
      const stored = objectOf(objectOf(objectOf(known)[group])[name]);
      // Read values may be sent back, regardless of their rules.
      if (isDeepStrictEqual(stored.value, setting.value)) continue;
      const declared = { ...stored, ...setting };
      for (const fault of faultsOf(declared, setting.value))
        refuse(`${at}.${name}.value`, `the setting ${group}.${name} ${fault}`, 'Correct the value.');
    }
  }
  return found;
}

/** Why a value is not one that its declaration allows; empty if it is. */
export function faultsOf(declared: Readonly<Record<string, unknown>>, value: unknown): readonly string[] {
  const { type, values, nullable } = declared;
  if (value === null && nullable === true) return [];
  if (type === 'select' || type === 'radio') {
    const choices = Array.isArray(values) ? values.filter(isObject).map((one) => one.data) : [];
    if (choices.length === 0 || choices.some((choice) => choice === value)) return [];
    return [`must be ${choices.map((choice) => JSON.stringify(choice)).join(' or ')}, not ${JSON.stringify(value)}`];
  }
  const rule = typeof type === 'string' && Object.hasOwn(VALUE_RULES, type) ? VALUE_RULES[type] : undefined;
  if (rule !== undefined && !rule.is(value))
    return [`must be ${rule.called}, not ${JSON.stringify(value).slice(0, 80)}`];
  const { min, max } = declared;
  if (typeof value === 'number') {
    if (typeof min === 'number' && value < min) return [`must be at least ${min}, not ${value}`];
    if (typeof max === 'number' && value > max) return [`must be at most ${max}, not ${value}`];
  }
  return [];
}
