import { isId } from '../../core/names.ts';
import { idIn, namedThings } from '../shell/named-ids.ts';
import type { Session } from '../shell/session.ts';
import type { ClusterStates } from './yaql-input.ts';

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
