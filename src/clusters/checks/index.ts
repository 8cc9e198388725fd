/** Checks of a cluster before a run. Pure. */
export { type ClusterFinding, checkCluster } from './check-cluster.ts';
export { checkLimits } from './limits.ts';
export { checkRestrictions, expandRestriction } from './restrictions.ts';
export { findingsForRun } from './run-findings.ts';
export { evaluateExpression } from './settings-expression.ts';
