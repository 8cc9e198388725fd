import { clusterRoutes } from './fuel/clusters.js';
import { executionRoutes, sequenceRoutes, transactionRoutes } from './fuel/deployments.js';
import { extensionRoutes } from './fuel/extensions.js';
import { GRAPHS_OF, graphRoutes, graphTaskRoutes } from './fuel/graphs.js';
import { inventoryNodeRoutes } from './fuel/nodes.js';
import { openstackConfigRoutes } from './fuel/openstack-configs.js';
import { packageRoutes } from './fuel/packages.js';
import { pluginRoutes } from './fuel/plugins.js';
import { releaseRoutes } from './fuel/releases.js';
import { ROLES_OF } from './fuel/roles.js';
import { factsRoutes, settingsRoutes } from './fuel/settings.js';
import { TAGS_OF, tagRoutes } from './fuel/tags.js';
import { siteNodeRoutes } from './node-in-run.js';
import { noticeRoutes } from './notice.js';
import { revisionRoutes } from './revision.js';
import { below } from './route.js';
import { runRoutes } from './run.js';
import { watchRoutes } from './run-tasks.js';
import { scheduleRoutes } from './schedule.js';
import { healthRoutes, serviceRoutes } from './service.js';
import { siteRoutes, webhookRoutes } from './site.js';
import { siteDriftRoutes } from './site-drift.js';
import { tokenRoutes } from './token.js';
import { workerRoutes } from './worker.js';

/** All routes of the REST API, by method and path below `/api/v1`. */
export const API = {
  ...siteRoutes,
  ...webhookRoutes,
  ...revisionRoutes,
  ...siteNodeRoutes,
  ...siteDriftRoutes,
  ...runRoutes,
  ...scheduleRoutes,
  ...noticeRoutes,
  ...watchRoutes,
  ...healthRoutes,
  ...serviceRoutes,
  ...workerRoutes,
  ...tokenRoutes,
  ...releaseRoutes,
  ...clusterRoutes,
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
  ...openstackConfigRoutes,
  ...sequenceRoutes,
  ...transactionRoutes,
  ...below('/releases/:id', { ...ROLES_OF.release, ...TAGS_OF.release, ...GRAPHS_OF.release }),
  ...below('/clusters/:id', { ...ROLES_OF.cluster, ...TAGS_OF.cluster, ...GRAPHS_OF.cluster }),
  ...below('/plugins/:id', GRAPHS_OF.plugin),
};

/** The map of routes as clients read it: by type only. */
export type Api = typeof API;
