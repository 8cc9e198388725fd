/** What is wrong with a cluster before a run. Pure. */
export { type CheckOptions, type ClusterFinding, checkCluster } from './check-cluster.js';
export { checkLimits, type LimitFailure, type LimitType } from './limits.js';
export { checkRestrictions, expandRestriction, type Restriction, type RestrictionResult } from './restrictions.js';
export { type ExpressionModels, type ExpressionResult, evaluateExpression } from './settings-expression.js';
