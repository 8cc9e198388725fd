import { checkRoutes } from './checks.ts';
import { clusterRoutes } from './fuel/clusters.ts';
import { executionRoutes, sequenceRoutes, transactionRoutes } from './fuel/deployments.ts';
import { extensionRoutes } from './fuel/extensions.ts';
import { GRAPHS_OF, graphRoutes, graphTaskRoutes } from './fuel/graphs.ts';
import { inventoryNodeRoutes } from './fuel/nodes.ts';
import { packageRoutes } from './fuel/packages.ts';
import { pluginRoutes } from './fuel/plugins.ts';
import { releaseRoutes } from './fuel/releases.ts';
import { ROLES_OF } from './fuel/roles.ts';
import { factsRoutes, settingsRoutes } from './fuel/settings.ts';
import { TAGS_OF, tagRoutes } from './fuel/tags.ts';
import { versionRoutes } from './fuel/versions.ts';
import { machineRoutes } from './machine.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { siteNodeRoutes } from './node-in-run.ts';
import { noticeRoutes } from './notices.ts';
import { rehearsalRoutes } from './rehearsals.ts';
import { revisionRoutes } from './revisions.ts';
import { below } from './route.ts';
import { watchRoutes } from './run-tasks.ts';
import { runRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { healthRoutes, serviceRoutes } from './service.ts';
import { siteDriftRoutes } from './site-drift.ts';
import { siteRoutes, webhookRoutes } from './sites.ts';
import { tokenRoutes } from './tokens.ts';
import { trendRoutes } from './trends.ts';
import { workerRoutes } from './worker.ts';

/** All routes of the REST API, by method and path below `/api/v1`. */
export const API = {
  ...siteRoutes,
  ...webhookRoutes,
  ...revisionRoutes,
  ...siteNodeRoutes,
  ...siteDriftRoutes,
  ...checkRoutes,
  ...machineRoutes,
  ...maintenanceRoutes,
  ...runRoutes,
  ...rehearsalRoutes,
  ...scheduleRoutes,
  ...noticeRoutes,
  ...watchRoutes,
  ...trendRoutes,
  ...healthRoutes,
  ...serviceRoutes,
  ...workerRoutes,
  ...tokenRoutes,
  ...releaseRoutes,
  ...clusterRoutes,
  ...versionRoutes,
  ...settingsRoutes,
  ...factsRoutes,
  ...extensionRoutes,
  ...inventoryNodeRoutes,
  ...pluginRoutes,
  ...packageRoutes,
  ...tagRoutes,
  ...graphRoutes,
  ...graphTaskRoutes,
  ...executionRoutes,
  ...sequenceRoutes,
  ...transactionRoutes,
  ...below('/releases/:id', { ...ROLES_OF.release, ...TAGS_OF.release, ...GRAPHS_OF.release }),
  ...below('/clusters/:id', { ...ROLES_OF.cluster, ...TAGS_OF.cluster, ...GRAPHS_OF.cluster }),
  ...below('/plugins/:id', GRAPHS_OF.plugin),
};

/** The map of routes as clients read it: by type only. */
export type Api = typeof API;
