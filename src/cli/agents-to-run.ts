import { didYouMean } from '../core/text/did-you-mean.ts';
import { usageError } from './problem.ts';
import type { Session } from './session.ts';

interface Asked {
  readonly site?: string;
  readonly node?: readonly string[];
  readonly cluster?: string;
}

/** The agents that `agent run` starts: by the names of their task queues, or those of a cluster's nodes. */
export async function agentsToRun(
  session: Pick<Session, 'call'>,
  { site, node = [], cluster }: Asked,
): Promise<readonly { readonly site: string; readonly node: string }[]> {
  const names = [...new Set(node)];
  if (cluster === undefined) {
    if (site === undefined) throw usageError('name a --site, or a --cluster');
    if (names.length === 0) throw usageError('name at least one --node');
    return names.map((one) => ({ site, node: one }));
  }
  if (site !== undefined) throw usageError('--site and --cluster exclude each other', 'Omit --site.');
  const agents = await session.call('GET /agents', { query: { cluster_id: cluster } });
  if (agents.length === 0)
    throw usageError(
      `cluster ${cluster} has no nodes`,
      `Add some: sitewright cluster add-nodes ${cluster} --node NODE --roles ROLE`,
    );
  const chosen = names.map((name) => {
    const found = agents.find((one) => one.name === name || String(one.id) === name || one.node === name);
    if (found !== undefined) return found;
    const known = agents.map((one) => one.name ?? String(one.id));
    throw usageError(
      `cluster ${cluster} has no node '${name}'`,
      didYouMean(name, known) ?? `Its nodes: sitewright cluster show ${cluster}`,
    );
  });
  return (names.length === 0 ? agents : chosen).map((one) => ({ site: one.site, node: one.node }));
}
