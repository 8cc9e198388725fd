import type { ApiClient } from './client.ts';

/** Runs offered: the newest ones. */
const NEWEST = 20;
const LIMIT_MS = 1_500;

type Reader = (client: ApiClient, of: string) => Promise<readonly unknown[]>;

/** By the kind of names that a shell completes. */
const READERS = {
  sites: async (client) => (await client.sites.list()).items.map(({ name }) => name),
  runs: async (client) => (await client.runs.list({ limit: NEWEST })).items.flatMap(({ id, site }) => [site, id]),
  'run-nodes': async (client, run) => {
    const { findRun } = await import('../commands/find-run.ts');
    const { id } = await findRun(client, run);
    return (await client.call('GET /runs/:run/nodes', { params: { run: id } })).items.map(({ name }) => name);
  },
  'site-nodes': async (client, site) => (await client.sites.select(site, 'latest', { selectors: [] })).nodes,
  clusters: async (client) => (await client.call('GET /clusters', {})).map(({ name }) => name),
  nodes: async (client) => (await client.call('GET /nodes', {})).map(({ name }) => name),
  releases: async (client) => (await client.call('GET /releases', {})).map(({ id }) => id),
  plugins: async (client) => (await client.call('GET /plugins', {})).map(({ id }) => id),
  packages: async (client) => (await client.call('GET /packages', {})).map(({ name }) => name),
  sequences: async (client) => (await client.call('GET /sequences/', {})).map(({ id }) => id),
  schedules: async (client) => (await client.call('GET /schedules', {})).items.map(({ name }) => name),
  transactions: async (client) => (await client.call('GET /transactions/', {})).map(({ id }) => id),
  types: async (client) =>
    (await client.call('GET /graphs/', {})).flatMap(({ relations }) => relations.map(({ type }) => type)),
} satisfies Readonly<Record<string, Reader>>;

export type ValueKind = keyof typeof READERS;

/**
 * Names of a kind, for the shell; of a site or run where they belong to one. None where the API does not answer soon:
 * someone waits for the cursor.
 */
export async function completionValues(client: ApiClient, kind: ValueKind, of: string): Promise<readonly string[]> {
  const reader: Reader = Object.hasOwn(READERS, kind) ? READERS[kind] : async () => [];
  const late = new Promise<readonly unknown[]>((resolve) => setTimeout(resolve, LIMIT_MS, []).unref());
  const found = await Promise.race([reader(client, of), late]).catch(() => []);
  return [...new Set(found.flatMap((name) => (name === null || name === undefined ? [] : String(name))))];
}
