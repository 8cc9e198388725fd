import { valueAt } from '../../core/data/plain-value.ts';
import { HIDDEN, withoutPasswords } from '../../core/text/secrets.ts';
import type { LoadedSettings } from './load-settings.ts';
import { type SettingDefinition, type SettingOrigin, settingDefinitions } from './settings.ts';

/** One line of `config show`. */
interface ShownSetting {
  readonly path: string;
  /** As text; secrets as `(set)`, passwords in URLs as `***`; `(none)` without a value. */
  readonly value: string;
  /** `default`, a variable's name, or `file:line`. */
  readonly origin: string;
}

/** Every setting with its value and origin. Safe to print and to log. */
export function showSettings(loaded: Extract<LoadedSettings, { ok: true }>): ShownSetting[] {
  return settingDefinitions.map((setting) => ({
    path: setting.path,
    value: shownValue(setting, valueAt(loaded.settings, setting.path.split('.'))),
    origin: shownOrigin(loaded.origins.get(setting.path) ?? { from: 'default' }),
  }));
}

function shownValue(setting: SettingDefinition, value: unknown): string {
  if (value === undefined) return '(none)';
  if (setting.secret) return '(set)';
  return setting.mayHoldPassword ? withoutPassword(String(value)) : withoutPasswords(String(value));
}

/** Hides the password of `scheme://user:password@host`, and a password parameter. */
function withoutPassword(url: string): string {
  const scheme = url.indexOf('://');
  const colon = url.indexOf(':', scheme < 0 ? 0 : scheme + 3);
  const at = url.lastIndexOf('@');
  const shown = colon < 0 || at < colon ? url : `${url.slice(0, colon + 1)}${HIDDEN}${url.slice(at)}`;
  return shown.replace(/([?&]password=)[^&]*/gi, `$1${HIDDEN}`);
}

function shownOrigin(origin: SettingOrigin): string {
  switch (origin.from) {
    case 'default':
      return 'default';
    case 'environment':
      return origin.variable;
    case 'file':
      return `${origin.file}:${origin.line}`;
  }
}
