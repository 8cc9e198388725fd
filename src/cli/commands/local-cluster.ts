import { hostname } from 'node:os';
import { isMapping } from '../../core/data/plain-value.ts';
import type { GraphTask } from '../../graph/index.ts';
import { type ApiClient, unchecked } from '../shell/client.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError } from '../shell/problem.ts';
import type { GraphBody } from './graph-to-upload.ts';

/** The cluster of `graph execute --local`: one node, this machine. It stays, with its history, and is used again. */
const NAME = 'local';
/** Of the base release: a node without software of its own. */
const ROLE = 'base-os';

/**
 * Stores a graph as the default one of the cluster `local`, whose only node, this machine, has every tag that the graph
 * names. Creates missing parts.
 * @returns the id of the cluster
 */
export async function storeLocally(client: ApiClient, graph: GraphBody, tasks: readonly GraphTask[]): Promise<number> {
  const cluster = await localCluster(client);
  const node = await localNode(client, cluster);
  await giveTags(client, cluster, node, tagsOf(tasks));
  const at = { params: { id: String(cluster), type: 'default' }, body: unchecked(graph) };
  await client.call('PUT /clusters/:id/deployment_graphs/:type', at).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.problem.code !== 'not-found') throw error;
    return client.call('POST /clusters/:id/deployment_graphs/:type', at);
  });
  return cluster;
}

async function localCluster(client: ApiClient): Promise<number> {
  const found = (await client.call('GET /clusters', {})).find(({ name }) => name === NAME);
  if (found !== undefined) return found.id;
  const releases = await client.call('GET /releases', {});
  const base = releases.find(({ roles, is_deployable: may }) => may && roles.includes(ROLE));
  if (base === undefined)
    throw new CliError(
      {
        code: 'not-found',
        message: `no release has the role ${ROLE}, which --local needs`,
        hint: 'The base release has it: set packages.base_release to on, and start the API again.',
      },
      EXIT.notFound,
    );
  return (await client.call('POST /clusters', { body: { name: NAME, release_id: base.id } })).id;
}

async function localNode(client: ApiClient, cluster: number): Promise<number> {
  const [found] = await client.call('GET /nodes', { query: { cluster_id: String(cluster) } });
  if (found !== undefined) return found.id;
  const body = { name: hostname(), status: 'provisioned' as const, online: true };
  const { id } = await client.call('POST /nodes', { body });
  const assignment = { params: { id: String(cluster) }, body: [{ id, roles: [ROLE] }] };
  await client.call('POST /clusters/:id/assignment', assignment);
  return id;
}

/** A tag by its name: whether the graph has tasks for its primary node. */
type Tags = ReadonlyMap<string, boolean>;

async function giveTags(client: ApiClient, cluster: number, node: number, wanted: Tags): Promise<void> {
  const params = { id: String(cluster) };
  const known = new Map(
    (await client.call('GET /clusters/:id/tags', { params })).map(({ name, meta }) => [name, meta] as const),
  );
  for (const [name, has_primary] of wanted) {
    const body = { name, meta: { has_primary } };
    const meta = known.get(name);
    if (!known.has(name)) await client.call('POST /clusters/:id/tags', { params, body });
    else if (has_primary && isMapping(meta) && meta.has_primary !== true)
      await client.call('PUT /clusters/:id/tags/:name', { params: { ...params, name }, body });
  }
  const given = await client.call('GET /nodes/:id/tags', { params: { id: String(node) } });
  const tags = [...wanted.keys()].filter((name) => !given.some(({ tag }) => tag === name));
  if (tags.length > 0) await client.call('POST /tags/assign', { body: { nodes: [node], tags } });
}

const PRIMARY = 'primary-';

/** The names by which tasks choose nodes. The only node is the primary one of its tags. */
function tagsOf(tasks: readonly GraphTask[]): Tags {
  const named = tasks
    .flatMap(({ tags, roles, groups }) => [tags, roles, groups].flat())
    .flatMap((name) => (typeof name === 'string' && /^[\w-]+$/.test(name) ? name : []))
    .filter((name) => name !== 'master' && name !== 'self');
  const primary = named.filter((name) => name.startsWith(PRIMARY)).map((name) => name.slice(PRIMARY.length));
  const plain = named.filter((name) => !name.startsWith(PRIMARY));
  return new Map([...plain, ...primary].map((name) => [name, primary.includes(name)]));
}
