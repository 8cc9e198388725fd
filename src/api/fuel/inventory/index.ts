import type { RouteGroup } from '../../serve.js';
import { serveClusters } from './cluster-routes.js';
import { serveFacts } from './facts-routes.js';
import { serveInventoryNodes } from './node-routes.js';
import { servePlugins } from './plugin-routes.js';
import { serveReleases } from './release-routes.js';
import { serveRoles } from './role-routes.js';
import { serveSettings } from './settings-routes.js';

/** What graphs run on, in the shapes Fuel's clients know: releases, clusters, nodes, roles, settings, plugins. */
export const serveInventory: readonly RouteGroup[] = [
  serveReleases,
  serveClusters,
  serveSettings,
  serveFacts,
  serveInventoryNodes,
  serveRoles,
  servePlugins,
];
