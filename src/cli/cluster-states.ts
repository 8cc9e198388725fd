import { isId } from '../core/names.ts';
import type { ClusterStates } from './commands/yaql-input.ts';
import { idIn, namedThings } from './named-ids.ts';
import type { Session } from './session.ts';

/** Loads the data of a cluster for expressions from the API, by the cluster's name or id. @throws CliError */
export async function loadClusterStates(
  session: Session,
  cluster: string,
  node: string | undefined,
): Promise<ClusterStates> {
  const client = await session.client();
  const id = isId(cluster) ? Number(cluster) : idIn('cluster', cluster, await namedThings(client, 'cluster'));
  const isNumber = node === undefined || isId(node);
  const query = { node: isNumber ? node : idIn('node', node, await namedThings(client, 'node')) };
  return client.call('GET /clusters/:id/states', { params: { id }, query });
}
