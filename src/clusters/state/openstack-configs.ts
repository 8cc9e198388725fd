import { isMapping } from '../../core/data/plain-value.ts';
import type { Fields } from '../../graph/index.ts';
import { mergeOver } from '../merge-over.ts';
import type { ClusterNode, OpenstackConfig } from '../sources.ts';
import { allRoles } from '../tags/of-sources.ts';

/**
 * The OpenStack configuration of a node: the node's own over that of its roles over that of the cluster. Null: that of
 * the cluster alone.
 */
export function configurationOf(configs: readonly OpenstackConfig[], node: ClusterNode | null): Fields {
  const roles = node === null ? [] : allRoles(node);
  const rank = ({ node: only, role }: OpenstackConfig): number => {
    if (only !== null) return only === node?.id ? roles.length + 1 : -1;
    return role === null ? 0 : roles.indexOf(role) + 1 || -1;
  };
  return configs
    .map((config) => ({ at: rank(config), configuration: config.configuration }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .reduce<Fields>((merged, { configuration }) => mergeOver(merged, configuration), {});
}

/** A configuration by service: under the names of its files, and under the services' own: `nova_config` and `nova`. */
export function byService(configuration: unknown): Fields {
  const files = isMapping(configuration) ? configuration : {};
  const services = Object.entries(files).flatMap(([name, file]) =>
    name.endsWith('_config') ? [[name.slice(0, -'_config'.length), file]] : [],
  );
  return { ...Object.fromEntries(services), ...files };
}
