export { type LoadOptions, loadSettings } from './load-settings.js';
export { readMaasKey } from './secrets.js';
export { type Settings, settingDefinitions, variableOf } from './settings.js';
export { settingsReference } from './settings-reference.js';
export { showSettings } from './show-settings.js';
