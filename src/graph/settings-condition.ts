/** The older condition language, for callers with settings as users edit them: restrictions, limits. */
export { type ConditionModels, type LegacyCondition, parseSettingsCondition } from './fields/legacy-condition.ts';
