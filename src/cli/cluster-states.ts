import type { ClusterStates } from './commands/yaql-input.ts';
import { EXIT } from './exit-codes.ts';
import { idArgument } from './id-argument.ts';
import { CliError } from './problem.ts';
import type { Session } from './session.ts';

/** Loads the data of a cluster for expressions from the API, by the cluster's name or id. @throws CliError */
export async function loadClusterStates(
  session: Session,
  cluster: string,
  node: string | undefined,
): Promise<ClusterStates> {
  const client = await session.client();
  const all = await client.call('GET /clusters');
  const found = all.find(({ name }) => name === cluster) ?? all.find(({ id }) => String(id) === cluster);
  if (found === undefined) {
    const names = all.map(({ name }) => name).join(', ');
    throw new CliError(
      {
        code: 'not-found',
        message: `there is no cluster ${cluster}`,
        hint: names === '' ? 'There is none yet: sitewright cluster create.' : `Clusters are: ${names}.`,
      },
      EXIT.notFound,
    );
  }
  const query = { node: node === undefined ? undefined : idArgument(node) };
  return client.call('GET /clusters/:id/states', { params: { id: found.id }, query });
}
