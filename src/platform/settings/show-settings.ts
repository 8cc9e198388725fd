import { valueAt } from '../../core/data/plain-value.ts';
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
  return setting.mayHoldPassword ? withoutPassword(String(value)) : String(value);
}

/** Hides the password of `scheme://user:password@host`, and a password parameter. */
function withoutPassword(url: string): string {
  return url.replace(/^([\w+.-]+:\/\/[^/@:]*):.*@/, '$1:***@').replace(/([?&]password=)[^&]*/gi, '$1***');
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
