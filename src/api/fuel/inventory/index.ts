import type { RouteGroup } from '../../routes/route-group.js';
import { clusterRoutes } from './cluster-routes.js';
import { factsRoutes } from './facts-routes.js';
import { inventoryNodeRoutes } from './node-routes.js';
import { pluginRoutes } from './plugin-routes.js';
import { releaseRoutes } from './release-routes.js';
import { roleRoutes } from './role-routes.js';
import { settingsRoutes } from './settings-routes.js';

/** What graphs run on, in the shapes Fuel's clients know: releases, clusters, nodes, roles, settings, plugins. */
export const inventoryRoutes: readonly RouteGroup[] = [
  releaseRoutes,
  clusterRoutes,
  settingsRoutes,
  factsRoutes,
  inventoryNodeRoutes,
  roleRoutes,
  pluginRoutes,
];
