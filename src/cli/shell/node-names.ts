import type { ApiClient } from './client.ts';

/** Names of nodes by their ids. */
export type NodeNames = Readonly<Record<string, string>>;

/** Those of a run of graphs; none where the API does not say them: ids are shown then. */
export async function nodeNamesOf(client: ApiClient, run: string): Promise<NodeNames> {
  const counts = await client.call('GET /runs/:run/counts', { params: { run } }).catch(() => undefined);
  return counts?.node_names ?? {};
}

/** Fields of reports, plans and logs that hold ids of nodes. */
const HOLDS_NODES: ReadonlySet<string> = new Set(['node', 'offline', 'silent', 'node_ids', 'chosen', 'candidates']);

/** In a plan, `waves` are nodes; in a status, their number. */
const holdsNodes = (key: string, value: unknown): boolean =>
  HOLDS_NODES.has(key) || (key === 'waves' && Array.isArray(value));

/** The same for people: with the name of each node in place of its id. */
export function withNodeNames<T>(value: T, names: NodeNames): T {
  return Object.keys(names).length === 0 ? value : (named(value, names, false) as T);
}

function named(value: unknown, names: NodeNames, isNode: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => named(one, names, isNode));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, named(one, names, holdsNodes(key, one))]),
    );
  const id = String(value);
  return isNode && Object.hasOwn(names, id) ? names[id] : value;
}
