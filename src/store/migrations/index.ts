import { sitesAndRuns } from './0001-sites-and-runs.js';
import { graphsAndClusters } from './0002-graphs-and-clusters.js';
import { nodeIdentities } from './0003-node-identities.js';
import { apiTokens } from './0004-api-tokens.js';
import { claimGenerations } from './0005-claim-generations.js';
import { roleTags } from './0006-role-tags.js';
import { openstackConfigs } from './0007-openstack-configs.js';
import { signInSessions } from './0008-sign-in-sessions.js';
import { runResults } from './0009-run-results.js';
import { neverReached } from './0010-never-reached.js';
import { gitSources } from './0011-git-sources.js';
import { noticeDeliveries } from './0012-notice-deliveries.js';
import { failedTasks } from './0013-failed-tasks.js';
import { deployedMachines } from './0014-deployed-machines.js';
import { nodeIdentityChanges } from './0015-node-identity-changes.js';
import type { Migration } from './migration.js';

/** All migrations, oldest first; the number of each is its place, from 1. */
export const migrations: readonly Migration[] = [
  sitesAndRuns,
  graphsAndClusters,
  nodeIdentities,
  apiTokens,
  claimGenerations,
  roleTags,
  openstackConfigs,
  signInSessions,
  runResults,
  neverReached,
  gitSources,
  noticeDeliveries,
  failedTasks,
  deployedMachines,
  nodeIdentityChanges,
];
