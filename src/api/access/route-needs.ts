import type { Need } from '../../core/access-role.js';

type Needs = Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', Need>>>;

/**
 * What each route below `/api/v1` asks of its caller, by its path as it is registered, without a slash at the end. A
 * route that is not here is for admins, and fails the test that walks all routes: decide, then add it.
 *
 * Reading is for viewers, also where the question is so long that it is a body. Operators start and steer runs, and
 * write documents, graphs, clusters, nodes and tags. Admins change what all clusters are made of (releases, plugins,
 * packages), remove what does not come back, and give tokens. Graphs and tags are an operator's whoever owns them,
 * since they can be named by their ids alone.
 */
const NEEDS: Readonly<Record<string, Needs>> = {
  '/audit': { GET: 'viewer' },
  '/clusters': { GET: 'viewer', POST: 'operator' },
  '/clusters/:id': { GET: 'viewer', PUT: 'operator', DELETE: 'admin' },
  '/clusters/:id/assignment': { POST: 'operator' },
  '/clusters/:id/attributes': { GET: 'viewer', PUT: 'operator', PATCH: 'operator' },
  '/clusters/:id/attributes/defaults': { GET: 'viewer', PUT: 'operator' },
  '/clusters/:id/changes': { PUT: 'operator' },
  '/clusters/:id/changes/redeploy': { PUT: 'operator' },
  '/clusters/:id/checks': { GET: 'viewer' },
  '/clusters/:id/deploy': { PUT: 'operator' },
  '/clusters/:id/deploy_tasks': { PUT: 'operator' },
  '/clusters/:id/deploy_tasks/graph.gv': { GET: 'viewer' },
  '/clusters/:id/deploy_tasks/graph.svg': { GET: 'viewer' },
  '/clusters/:id/deployment_graphs': { GET: 'viewer' },
  '/clusters/:id/deployment_graphs/:type': {
    GET: 'viewer',
    POST: 'operator',
    PUT: 'operator',
    PATCH: 'operator',
    DELETE: 'operator',
  },
  '/clusters/:id/deployment_tasks': { GET: 'viewer', PUT: 'operator' },
  '/clusters/:id/deployment_tasks/own': { GET: 'viewer' },
  '/clusters/:id/deployment_tasks/plugins': { GET: 'viewer' },
  '/clusters/:id/deployment_tasks/release': { GET: 'viewer' },
  '/clusters/:id/network_configuration/:provider': { GET: 'viewer', PUT: 'operator' },
  '/clusters/:id/network_configuration/template': { GET: 'viewer', PUT: 'operator', DELETE: 'operator' },
  '/clusters/:id/orchestrator/deployment': { GET: 'viewer', PUT: 'operator', DELETE: 'operator' },
  '/clusters/:id/orchestrator/deployment/defaults': { GET: 'viewer' },
  '/clusters/:id/orchestrator/provisioning': { GET: 'viewer', PUT: 'operator', DELETE: 'operator' },
  '/clusters/:id/orchestrator/provisioning/defaults': { GET: 'viewer' },
  '/clusters/:id/plan': { GET: 'viewer' },
  '/clusters/:id/provision': { PUT: 'operator' },
  '/clusters/:id/roles': { GET: 'viewer', POST: 'operator' },
  '/clusters/:id/roles/:name': { GET: 'viewer', PUT: 'operator', DELETE: 'operator' },
  '/clusters/:id/serialized_tasks': { GET: 'viewer' },
  '/clusters/:id/states': { GET: 'viewer' },
  '/clusters/:id/stop_deployment': { PUT: 'operator' },
  '/clusters/:id/tag_assignments': { GET: 'viewer' },
  '/clusters/:id/tags': { GET: 'viewer', POST: 'operator' },
  '/clusters/:id/tags/:name': { GET: 'viewer', PUT: 'operator', DELETE: 'operator' },
  '/clusters/:id/unassignment': { POST: 'operator' },
  '/clusters/:id/vmware_attributes': { GET: 'viewer', PUT: 'operator' },
  '/documents/check': { POST: 'viewer' },
  '/events': { GET: 'viewer' },
  '/graphs': { GET: 'viewer', POST: 'operator' },
  '/graphs/:id': { GET: 'viewer', PUT: 'operator', PATCH: 'operator', DELETE: 'operator' },
  '/graphs/:id/graph.svg': { GET: 'viewer' },
  '/graphs/check': { POST: 'viewer' },
  '/graphs/execute': { POST: 'operator' },
  '/health': { GET: 'anyone' },
  '/health/live': { GET: 'anyone' },
  '/maas/check': { GET: 'viewer' },
  '/me': { GET: 'viewer' },
  '/nodes': { GET: 'viewer', POST: 'operator', PUT: 'operator', DELETE: 'operator' },
  '/nodes/:id': { GET: 'viewer', PUT: 'operator', PATCH: 'operator', DELETE: 'operator' },
  '/nodes/:id/attributes': { GET: 'viewer', PUT: 'operator', PATCH: 'operator' },
  '/nodes/:id/disks': { GET: 'viewer', PUT: 'operator' },
  '/nodes/:id/disks/defaults': { GET: 'viewer' },
  '/nodes/:id/interfaces': { GET: 'viewer', PUT: 'operator' },
  '/nodes/:id/interfaces/default_assignment': { GET: 'viewer' },
  '/nodes/:id/tags': { GET: 'viewer', POST: 'operator', DELETE: 'operator' },
  '/packages': { GET: 'viewer', POST: 'admin' },
  '/packages/:id': { GET: 'viewer', DELETE: 'admin' },
  '/packages/:id/archive': { GET: 'viewer' },
  '/packages/sync': { POST: 'admin' },
  '/plugins': { GET: 'viewer' },
  '/plugins/:id': { GET: 'viewer', PUT: 'admin', DELETE: 'admin' },
  '/plugins/:id/deployment_graphs': { GET: 'viewer' },
  '/plugins/:id/deployment_graphs/:type': {
    GET: 'viewer',
    POST: 'operator',
    PUT: 'operator',
    PATCH: 'operator',
    DELETE: 'operator',
  },
  '/plugins/:id/tags': { GET: 'viewer' },
  '/plugins/sync': { POST: 'admin' },
  '/releases': { GET: 'viewer', POST: 'admin' },
  '/releases/:id': { GET: 'viewer', PUT: 'admin', DELETE: 'admin' },
  '/releases/:id/attributes_metadata': { GET: 'viewer', PUT: 'admin' },
  '/releases/:id/components': { GET: 'viewer' },
  '/releases/:id/deployment_graphs': { GET: 'viewer' },
  '/releases/:id/deployment_graphs/:type': {
    GET: 'viewer',
    POST: 'operator',
    PUT: 'operator',
    PATCH: 'operator',
    DELETE: 'operator',
  },
  '/releases/:id/deployment_tasks': { GET: 'viewer', PUT: 'operator' },
  '/releases/:id/networks': { GET: 'viewer', PUT: 'admin' },
  '/releases/:id/roles': { GET: 'viewer', POST: 'admin' },
  '/releases/:id/roles/:name': { GET: 'viewer', PUT: 'admin', DELETE: 'admin' },
  '/releases/:id/tags': { GET: 'viewer', POST: 'operator' },
  '/releases/:id/tags/:name': { GET: 'viewer', PUT: 'operator', DELETE: 'operator' },
  '/runs': { GET: 'viewer' },
  '/runs/:run': { GET: 'viewer' },
  '/runs/:run/counts': { GET: 'viewer' },
  '/runs/:run/events': { GET: 'viewer' },
  '/runs/:run/graph.svg': { GET: 'viewer' },
  '/runs/:run/tasks': { GET: 'viewer' },
  '/runs/:run/cancel': { POST: 'operator' },
  '/runs/:run/logs/:task': { GET: 'viewer' },
  '/runs/:run/nodes': { GET: 'viewer' },
  '/runs/:run/nodes/:node/retry': { POST: 'operator' },
  '/runs/:run/pause': { POST: 'operator' },
  '/runs/:run/plan': { GET: 'viewer' },
  '/runs/:run/report': { GET: 'viewer' },
  '/runs/:run/resume': { POST: 'operator' },
  '/runs/:run/status': { GET: 'viewer' },
  '/runs/:run/stop': { POST: 'operator' },
  '/runs/:run/tasks/:task/retry': { POST: 'operator' },
  '/runs/:run/tasks/:task/skip': { POST: 'operator' },
  '/runs/:run/tree': { GET: 'viewer' },
  '/schemas': { GET: 'viewer' },
  '/schemas/:file': { GET: 'viewer' },
  '/sequences': { GET: 'viewer', POST: 'operator' },
  '/sequences/:id': { GET: 'viewer', PUT: 'operator', PATCH: 'operator', DELETE: 'operator' },
  '/sequences/:id/execute': { POST: 'operator' },
  '/sites': { GET: 'viewer', POST: 'operator' },
  '/sites/:site': { GET: 'viewer', DELETE: 'admin' },
  '/sites/:site/nodes/:node/history': { GET: 'viewer' },
  '/sites/:site/nodes/status': { GET: 'viewer' },
  '/sites/:site/revisions': { GET: 'viewer', POST: 'operator' },
  '/sites/:site/revisions/:ref': { GET: 'viewer' },
  '/sites/:site/revisions/:ref/difference': { GET: 'viewer' },
  '/sites/:site/revisions/:ref/files': { GET: 'viewer' },
  '/sites/:site/revisions/:ref/select': { POST: 'viewer' },
  '/sites/:site/revisions/:ref/strategy': { GET: 'viewer' },
  '/sites/:site/runs': { GET: 'viewer', POST: 'operator' },
  '/tags': { GET: 'viewer', POST: 'operator', PUT: 'operator', DELETE: 'operator' },
  '/tags/assign': { POST: 'operator' },
  '/tags/unassign': { POST: 'operator' },
  '/tasks': { GET: 'viewer' },
  '/tasks/:id': { GET: 'viewer', DELETE: 'operator' },
  '/tokens': { GET: 'admin', POST: 'admin' },
  '/tokens/:token': { DELETE: 'admin' },
  '/transactions': { GET: 'viewer' },
  '/transactions/:id': { GET: 'viewer', DELETE: 'operator' },
  '/transactions/:id/deployment_history': { GET: 'viewer' },
  '/transactions/:id/deployment_info': { GET: 'viewer' },
  '/transactions/:id/network_configuration': { GET: 'viewer' },
  '/transactions/:id/plan': { GET: 'viewer' },
  '/transactions/:id/settings': { GET: 'viewer' },
  '/version': { GET: 'anyone' },
};

/** Routes beside the API: for load balancers, for collectors of metrics, and the description. */
const NEEDS_BESIDE: Readonly<Record<string, Needs>> = {
  '/health': { GET: 'anyone' },
  '/health/live': { GET: 'anyone' },
  '/metrics': { GET: 'viewer' },
  '/openapi.json': { GET: 'viewer' },
};

const PREFIX = '/api/v1';

/**
 * What a route asks of its caller.
 *
 * @param method of HTTP; HEAD is as GET
 * @param path of the route as it is registered, as `/api/v1/sites/:site`
 * @returns undefined when nobody has decided: then it is for admins
 */
export function needOfRoute(method: string, path: string): Need | undefined {
  const verb = (method === 'HEAD' ? 'GET' : method) as keyof Needs;
  const bare = path.length > 1 ? path.replace(/\/$/, '') : path;
  if (bare.startsWith(`${PREFIX}/`)) return find(NEEDS, bare.slice(PREFIX.length))?.[verb];
  // The reference of the API, with the files of its page.
  if (bare === '/docs' || bare.startsWith('/docs/')) return verb === 'GET' ? 'viewer' : undefined;
  return find(NEEDS_BESIDE, bare)?.[verb];
}

const find = (needs: Readonly<Record<string, Needs>>, path: string): Needs | undefined =>
  Object.hasOwn(needs, path) ? needs[path] : undefined;

/** Every decision, for the documentation: `GET /sites`, `viewer`. */
export function* allNeeds(): Generator<readonly [route: string, need: Need]> {
  for (const [path, needs] of Object.entries(NEEDS))
    for (const [method, need] of Object.entries(needs)) yield [`${method} ${PREFIX}${path}`, need];
  for (const [path, needs] of Object.entries(NEEDS_BESIDE))
    for (const [method, need] of Object.entries(needs)) yield [`${method} ${path}`, need];
}
