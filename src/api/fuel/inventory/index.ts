import type { RouteGroup } from '../../serve.ts';
import { serveClusters } from './cluster-routes.ts';
import { serveFacts } from './facts-routes.ts';
import { serveInventoryNodes } from './node-routes.ts';
import { servePlugins } from './plugin-routes.ts';
import { serveReleases } from './release-routes.ts';
import { serveRoles } from './role-routes.ts';
import { serveSettings } from './settings-routes.ts';
import { serveVersions } from './version-routes.ts';

/** The inventory of graphs, in the formats of Fuel's clients: releases, clusters, nodes, roles, settings, plugins. */
export const serveInventory: readonly RouteGroup[] = [
  serveReleases,
  serveClusters,
  serveSettings,
  serveVersions,
  serveFacts,
  serveInventoryNodes,
  serveRoles,
  servePlugins,
];
