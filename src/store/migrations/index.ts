import { sitesAndRuns } from './0001-sites-and-runs.ts';
import { graphsAndClusters } from './0002-graphs-and-clusters.ts';
import { nodeIdentities } from './0003-node-identities.ts';
import { apiTokens } from './0004-api-tokens.ts';
import { claimGenerations } from './0005-claim-generations.ts';
import { roleTags } from './0006-role-tags.ts';
import { openstackConfigs } from './0007-openstack-configs.ts';
import { signInSessions } from './0008-sign-in-sessions.ts';
import { runResults } from './0009-run-results.ts';
import { neverReached } from './0010-never-reached.ts';
import { gitSources } from './0011-git-sources.ts';
import { noticeDeliveries } from './0012-notice-deliveries.ts';
import { failedTasks } from './0013-failed-tasks.ts';
import { deployedMachines } from './0014-deployed-machines.ts';
import { nodeIdentityChanges } from './0015-node-identity-changes.ts';
import type { Migration } from './migration.ts';

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
