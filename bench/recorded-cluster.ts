/** The recorded library and cluster for benchmarks. */
import { readFileSync } from 'node:fs';

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON is read as it comes
export type Json = Record<string, any>;

/** A file of test/data/fuel. */
export const recorded = (file: string): Json =>
  JSON.parse(readFileSync(new URL(`../test/data/fuel/${file}`, import.meta.url), 'utf8'));

/** The recorded cluster extended to a number of nodes by copies of a compute with their own names and addresses. */
export function clusterOf(count: number): Json {
  if (count === 1) return recorded('cluster.aio.json');
  const cluster = recorded('cluster.six.json');
  const { common, nodes } = cluster.deployment_info as Json;
  const model = '12';
  const metadata = common.network_metadata.nodes as Json;
  const named = Object.values(metadata).find((one: Json) => one.uid === model) as Json;
  const listed = (common.nodes as Json[]).filter(({ uid }) => uid === model);
  const tags = cluster.resolver.find(({ uid }: Json) => uid === model);
  for (let at = cluster.resolver.length; at < count; at++) {
    const uid = String(100 + at);
    const name = `node-${uid}`;
    const own = { uid, name, fqdn: `${name}.example.com` };
    const ip = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
    cluster.resolver.push({ ...tags, uid });
    nodes[uid] = { ...structuredClone(nodes[model]), uid, fqdn: own.fqdn, ip };
    metadata[name] = { ...structuredClone(named), ...own };
    common.nodes.push(...listed.map((one) => ({ ...structuredClone(one), ...own })));
  }
  return cluster;
}
