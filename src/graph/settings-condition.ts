/** The older language of conditions, for callers that have settings as users edit them: restrictions, limits. */
export { type ConditionModels, type LegacyCondition, parseSettingsCondition } from './fields/legacy-condition.js';
