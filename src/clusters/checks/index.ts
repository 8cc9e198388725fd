/** Checks of a cluster before a run. Pure. */
export { type ClusterFinding, checkCluster } from './check-cluster.js';
export { checkLimits } from './limits.js';
export { checkRestrictions, expandRestriction } from './restrictions.js';
export { findingsForRun } from './run-findings.js';
export { evaluateExpression } from './settings-expression.js';
