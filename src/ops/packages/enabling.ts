import { stageTasksOf } from '../../clusters/plugin-tasks.ts';
import { settingSwitch } from '../../clusters/settings.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { onlyOrders } from '../../core/task-types/index.ts';
import type { JsonObject, PluginRecord, StoredGraph, StorePorts } from '../../store/index.ts';
import { type PluginParts, partsOf, partsOfPlugin, pluginConflicts } from './plugin-conflicts.ts';
import { compareVersions } from './version-order.ts';

/**
 * Reasons not to enable plugins in a cluster: overlaps with its release and with other enabled plugins, and legacy
 * tasks in a cluster that does not adapt them.
 *
 * @param enabled all plugins to be enabled
 * @param newly those of them that were not enabled before
 */
export async function problemsOfEnabling(
  store: Pick<StorePorts, 'clusters' | 'releases' | 'graphs'>,
  cluster: { readonly releaseId: number; readonly settings: JsonObject },
  enabled: readonly PluginRecord[],
  newly: ReadonlySet<number>,
): Promise<readonly Diagnostic[]> {
  if (newly.size === 0) return [];
  const release = await store.releases.get(cluster.releaseId);
  const graphs = await store.graphs.list({ plugins: enabled.map(({ id }) => id) });
  const ofPlugin = (id: number) => graphs.filter(({ owner }) => owner.kind === 'plugin' && owner.id === id);
  const known = partsOf(`release ${release.name}`, release.metadata, release.rolesMetadata, {});
  const parts = new Map(enabled.map((plugin) => [plugin.id, partsOfPlugin(plugin, taskNames(ofPlugin(plugin.id)))]));
  const adapts = settingSwitch(cluster.settings, 'propagate_task_deploy') === true;
  const found: Diagnostic[] = [];
  for (const [at, plugin] of enabled.entries()) {
    if (!newly.has(plugin.id)) continue;
    // Of two newly enabled plugins, report the later one.
    const others = enabled.filter((other, index) => other.id !== plugin.id && (!newly.has(other.id) || index < at));
    const beside = others.map(({ id }) => parts.get(id)!);
    found.push(...pluginConflicts({ id: plugin.id, name: plugin.name, parts: parts.get(plugin.id)! }, known, beside));
    if (!adapts && hasLegacyTasks(plugin, ofPlugin(plugin.id))) {
      found.push({
        severity: 'error',
        code: 'plugin.legacy-tasks',
        message:
          'Cannot enable plugin with legacy tasks unless propagate_task_deploy attribute is set. Ensure tasks.yaml is empty and all tasks has version >= 2.0.0.',
        hint: `Turn propagate_task_deploy on in the cluster's settings, or use a newer version of ${plugin.name}.`,
      });
    }
  }
  return found.map((one) => ({ path: 'body.editable', ...one }));
}

const taskNames = (graphs: readonly StoredGraph[]): PluginParts['tasks'] =>
  Object.fromEntries(graphs.map(({ type, tasks }) => [type ?? '', tasks.map(({ id }) => id)]));

function hasLegacyTasks(plugin: PluginRecord, graphs: readonly StoredGraph[]): boolean {
  if (stageTasksOf(plugin).length > 0) return true;
  return graphs.some(({ tasks }) =>
    tasks.some(({ type, version }) => !onlyOrders(type) && compareVersions(String(version ?? '1.0.0'), '2.0.0') < 0),
  );
}
