import type { RouteGroup } from '../../routes/route-group.js';
import { checkRoutes } from './check-routes.js';
import { tagAssignmentRoutes, tagQueryRoutes, tagRoutes } from './tag-routes.js';

/** Tags: by path, by query, and which nodes have them. */
export const tagRouteGroups: readonly RouteGroup[] = [tagRoutes, tagAssignmentRoutes, tagQueryRoutes, checkRoutes];
