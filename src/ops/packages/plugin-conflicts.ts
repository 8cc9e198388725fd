import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { compareKeys } from '../../core/text/text.ts';
import type { Json, JsonObject, PluginRecord } from '../../store/index.ts';
import { isObject, objectOf } from '../inventory/json-object.ts';

/** The parts of a cluster's release, or of a plugin. */
export interface PluginParts {
  /** The owner's name in messages: `plugin NAME`, `release NAME`. */
  readonly owner: string;
  readonly roles: JsonObject;
  readonly volumes: readonly Json[];
  readonly networkRoles: readonly Json[];
  readonly components: readonly Json[];
  /** Task ids by graph type. */
  readonly tasks: Readonly<Record<string, readonly string[]>>;
}

/** The parts of a plugin; its graphs' tasks are stored separately. */
export function partsOfPlugin(
  { name, metadata }: Pick<PluginRecord, 'name' | 'metadata'>,
  tasks: PluginParts['tasks'],
): PluginParts {
  return partsOf(`plugin ${name}`, metadata, objectOf(metadata.roles_metadata), tasks);
}

export function partsOf(
  owner: string,
  metadata: JsonObject,
  roles: JsonObject,
  tasks: PluginParts['tasks'],
): PluginParts {
  const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
  return {
    owner,
    roles,
    volumes: list(objectOf(metadata.volumes_metadata).volumes),
    networkRoles: list(metadata.network_roles_metadata),
    components: list(metadata.components_metadata),
    tasks,
  };
}

/**
 * Reasons not to enable a plugin together with a cluster's release and other plugins, with the reference's messages. Tags
 * never conflict: the later one of a name wins. Tasks conflict only between plugins, because they override those of a
 * release.
 */
export function pluginConflicts(
  plugin: { readonly id: number; readonly name: string; readonly parts: PluginParts },
  release: PluginParts,
  others: readonly PluginParts[],
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const refuse = (code: string, message: string, hint: string) =>
    found.push({ severity: 'error', code: `plugin.${code}`, message, hint });
  const { parts } = plugin;
  const beside = [release, ...others];
  const taken = Object.keys(parts.roles).filter((role) => beside.some(({ roles }) => Object.hasOwn(roles, role)));
  if (taken.length > 0) {
    refuse(
      'roles-taken',
      `Plugin (ID=${plugin.id}) is unable to register the following node roles: ${taken.sort().join(', ')}`,
      'Roles are unique in a cluster: disable the other plugin, or rename the roles.',
    );
  }
  for (const other of beside) {
    for (const id of common(parts.volumes, other.volumes, 'id')) {
      refuse(
        'volume-taken',
        `Plugin ${plugin.name} is overlapping with ${other.owner} by introducing the same volume with id "${id}"`,
        'Rename the volume in one of them.',
      );
    }
    for (const name of common(parts.components, other.components, 'name')) {
      refuse(
        'component-taken',
        `Plugin ${plugin.name} is overlapping with ${other.owner} by introducing the same component with name "${name}"`,
        'Rename the component in one of them.',
      );
    }
  }
  const changed = parts.networkRoles.filter((role) => beside.some((other) => overrides(role, other.networkRoles)));
  if (changed.length > 0) {
    const ids = changed.map((role) => `'${String(objectOf(role).id)}'`);
    refuse(
      'network-role-taken',
      `Cannot override existing network roles: ${ids.join(', ')} in plugins: '${plugin.name}'`,
      'Give them the same properties or other ids; addresses (vip) are merged.',
    );
  }
  for (const other of others) {
    for (const [type, ids] of Object.entries(parts.tasks)) {
      const theirs = new Set(other.tasks[type] ?? []);
      for (const id of ids.filter((one) => theirs.has(one))) {
        refuse(
          'task-taken',
          `Plugin ${plugin.name} is overlapping with ${other.owner} by introducing the same deployment task with id ${id}`,
          'Disable one of the plugins, or rename its task.',
        );
      }
    }
  }
  return found;
}

function common(own: readonly Json[], theirs: readonly Json[], key: string): string[] {
  const named = (list: readonly Json[]): string[] =>
    list.flatMap((one) => (isObject(one) && typeof one[key] === 'string' ? [one[key]] : []));
  const taken = new Set(named(theirs));
  return [...new Set(named(own))].filter((one) => taken.has(one));
}

/** Whether a network role with the same id has other properties; addresses do not count. */
function overrides(role: Json, known: readonly Json[]): boolean {
  const essence = (one: JsonObject): string => {
    const { vip: _vip, ...properties } = objectOf(one.properties);
    return JSON.stringify([one.default_mapping, Object.entries(properties).sort(compareKeys)]);
  };
  if (!isObject(role)) return false;
  return known.some((one) => isObject(one) && one.id === role.id && essence(one) !== essence(role));
}
