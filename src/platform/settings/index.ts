export { type LoadOptions, loadSettings } from './load-settings.ts';
export { readMaasKey } from './secrets.ts';
export { type Settings, settingDefinitions, variableOf } from './settings.ts';
export { settingsReference } from './settings-reference.ts';
export { showSettings } from './show-settings.ts';
