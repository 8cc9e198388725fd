export { type LoadedSettings, type LoadOptions, loadSettings, type SettingOrigin } from './load-settings.js';
export { type MaasKey, readMaasKey } from './secrets.js';
export { type SettingDefinition, type Settings, settingDefinitions } from './settings.js';
export { settingsReference } from './settings-reference.js';
export { type ShownSetting, showSettings } from './show-settings.js';
