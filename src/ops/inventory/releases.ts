import { pluginFits } from '../../clusters/plugin-fit.ts';
import { tagsOfRole } from '../../clusters/tags/catalogue.ts';
import { given } from '../../core/data/given.ts';
import { calledText } from '../../core/names.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import type { JsonFields, JsonObject, NewTag, PluginRecord, ReleaseRecord, StorePorts } from '../../store/index.ts';
import { problem } from '../problem.ts';
import type { Reader } from '../reading/reader.ts';
import { Service } from '../service.ts';
import { isObject, objectOf, textsOf } from './json-object.ts';
import { finding, refuseIfAny, unchangeable } from './refuse.ts';

/** A release to upload, with wire names. Fields that are not listed here become part of `metadata`. */
interface ReleaseUpload {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly operating_system?: string | undefined;
  readonly description?: string | null | undefined;
  readonly state?: string | undefined;
  readonly roles_metadata?: JsonFields | undefined;
  readonly tags_metadata?: JsonFields | undefined;
  /** Tasks of its graph of type `default`. */
  readonly deployment_tasks?: readonly unknown[] | undefined;
  readonly [part: string]: unknown;
}

/** A part of a release's metadata with its own route. */
type ReleasePart = 'networks_metadata' | 'attributes_metadata';

/** Fields with their own columns, and read-only fields. */
const NOT_METADATA = [
  'id',
  'name',
  'version',
  'operating_system',
  'description',
  'state',
  'is_deployable',
  'roles',
  'roles_metadata',
  'tags_metadata',
  'deployment_tasks',
];

export class ReleaseOperations extends Service {
  list(): Promise<readonly ReleaseRecord[]> {
    return this.store.releases.list();
  }
  readonly get = (id: number) => this.store.releases.get(id);
  async create(
    upload: ReleaseUpload & { readonly name: string; readonly version: string },
    actor: string,
  ): Promise<ReleaseRecord> {
    refuseIfAny(checkRoleTags(upload.roles_metadata, upload.tags_metadata));
    const tasks = await readTasks(this.reader, upload);
    await this.#refuseTaken(upload.name, upload.version);
    return this.store.atomically(async (within) => {
      const release = await within.releases.create({
        name: upload.name,
        version: upload.version,
        ...columns(upload),
        metadata: metadataOf(upload),
      });
      await complete(within, release, tasks);
      await audit(within, actor, 'release.create', release.id, { name: release.name, version: release.version });
      return release;
    });
  }
  async update(id: number, upload: ReleaseUpload, actor: string): Promise<ReleaseRecord> {
    const release = await this.get(id);
    const roles = objectOf(upload.roles_metadata ?? release.rolesMetadata);
    const shown = { id, is_deployable: isDeployable(release), roles: Object.keys(roles) };
    const tasks = await readTasks(this.reader, upload);
    refuseIfAny([
      ...unchangeable(upload, shown, ['id', 'is_deployable', 'roles']),
      ...checkRoleTags(roles, upload.tags_metadata ?? release.tagsMetadata),
      ...(await this.#rolesInUse(
        id,
        Object.keys(release.rolesMetadata).filter((role) => !Object.hasOwn(roles, role)),
      )),
    ]);
    await this.#refuseTaken(upload.name ?? release.name, upload.version ?? release.version, id);
    return this.store.atomically(async (within) => {
      const { metadata } = await within.releases.get(id);
      const changed = await within.releases.update(id, {
        ...given({ name: upload.name, version: upload.version }),
        ...columns(upload),
        metadata: { ...metadata, ...metadataOf(upload) },
      });
      await complete(within, changed, tasks);
      await audit(within, actor, 'release.update', id, { fields: Object.keys(upload) });
      return changed;
    });
  }
  async delete(id: number, actor: string): Promise<void> {
    const release = await this.get(id);
    const clusters = await this.store.clusters.list({ releaseId: id });
    if (clusters.length > 0) {
      throw problem('conflict', "Can't delete release with clusters assigned", {
        hint: `Delete first: ${clusters.map((one) => `${one.name} (cluster ${one.id})`).join(', ')}.`,
      });
    }
    await this.store.releases.delete(id);
    await audit(this.store, actor, 'release.delete', id, { name: release.name, version: release.version });
  }
  async part(id: number, part: ReleasePart): Promise<JsonObject> {
    return objectOf((await this.get(id)).metadata[part]);
  }
  async replacePart(id: number, part: ReleasePart, value: JsonFields, actor: string): Promise<JsonObject> {
    return this.store.atomically(async (within) => {
      const { metadata } = await within.releases.get(id);
      const changed = await within.releases.update(id, { metadata: { ...metadata, [part]: value } });
      await audit(within, actor, 'release.update', id, { fields: [part] });
      return objectOf(changed.metadata[part]);
    });
  }
  /** Its components, and those of compatible plugins. */
  async components(id: number): Promise<readonly JsonObject[]> {
    const release = await this.get(id);
    const plugins = (await this.store.plugins.list()).filter((plugin) => pluginFits(plugin, release));
    return [release, ...plugins].flatMap(componentsOf);
  }

  async #refuseTaken(name: string, version: string, id?: number): Promise<void> {
    const other = await this.store.releases.find(name, version);
    if (other === null || other.id === id) return;
    throw problem('conflict', 'Release with the same name and version already exists', {
      hint: `It is release ${other.id}: change the existing one, or choose another name or version.`,
    });
  }

  /** Refuses to remove roles that nodes have. */
  async #rolesInUse(releaseId: number, gone: readonly string[]): Promise<readonly Diagnostic[]> {
    if (gone.length === 0) return [];
    const clusters = await this.store.clusters.list({ releaseId });
    const nodes = await Promise.all(
      clusters.map((cluster) => this.store.nodes.list({ clusterId: cluster.id, roles: gone })),
    );
    return nodes.flat().map((node) => {
      const held = gone.filter((role) => [...node.roles, ...node.pendingRoles].includes(role));
      return finding(
        'role.in-use',
        'body.roles_metadata',
        `Can't delete role ${held.join(', ')} that is assigned to ${calledText('node', node)}.`,
        'Keep the role, or remove it from the node first.',
      );
    });
  }
}

function audit(store: Pick<StorePorts, 'audit'>, actor: string, action: string, id: number, details: unknown) {
  return store.audit.append({ actor, action, target: `release/${id}`, details });
}

/** Writes the parts of a release: its tags, and its tasks if they were sent. */
async function complete(
  within: StorePorts,
  release: ReleaseRecord,
  tasks: readonly unknown[] | undefined,
): Promise<void> {
  const owner = { kind: 'release', id: release.id } as const;
  await within.tags.replaceReadOnly(owner, tagsOfRelease(release));
  if (tasks !== undefined) await within.graphs.put(owner, 'default', { tasks: tasks as never });
}

/** VMware settings of a release: packages and the API name them differently. */
export const vmwareAttributes = ({ metadata }: Pick<ReleaseRecord, 'metadata'>): JsonObject =>
  objectOf(metadata.vmware_attributes_metadata ?? metadata.vmware_attributes);

export const isDeployable = (release: ReleaseRecord): boolean => release.isDeployable && release.state === 'available';

function columns(upload: ReleaseUpload) {
  return {
    ...given({ operatingSystem: upload.operating_system }),
    ...(upload.description === undefined ? {} : { description: upload.description ?? '' }),
    ...given({ state: upload.state, rolesMetadata: upload.roles_metadata, tagsMetadata: upload.tags_metadata }),
  };
}

const metadataOf = (upload: ReleaseUpload): JsonFields =>
  Object.fromEntries(
    Object.entries(upload).filter(([name, value]) => value !== undefined && !NOT_METADATA.includes(name)),
  );

async function readTasks(
  reader: Reader,
  { deployment_tasks: tasks }: ReleaseUpload,
): Promise<readonly unknown[] | undefined> {
  if (tasks === undefined) return undefined;
  const { upload, diagnostics } = await reader.graph({ source: { body: tasks }, as: 'tasks', surroundings: {} });
  refuseIfAny(
    diagnostics
      .filter(isError)
      .map(({ message, code, hint, path = '' }) =>
        finding(code, `body.deployment_tasks${path}`, message, hint ?? 'Correct it.'),
      ),
  );
  return upload.tasks;
}

/** Every tag of a role must be a tag of the release or the role's own name. */
function checkRoleTags(roles: unknown, tags: unknown): readonly Diagnostic[] {
  return Object.entries(objectOf(roles)).flatMap(([role, meta]) => {
    const absent = textsOf(objectOf(meta).tags).filter((tag) => tag !== role && !Object.hasOwn(objectOf(tags), tag));
    if (absent.length === 0) return [];
    return [
      finding(
        'role.unknown-tag',
        `body.roles_metadata.${role}.tags`,
        `Tags ${absent.join(', ')} are present for role ${role}, but, absent in release tags metadata`,
        'Add them to tags_metadata, as {"has_primary": false}, or remove them from the role.',
      ),
    ];
  });
}

/** Tags of a release: those it describes, and those that only its roles name, as a cluster has them: each role has a tag of its name. */
export function tagsOfRelease({
  rolesMetadata,
  tagsMetadata,
}: Pick<ReleaseRecord, 'rolesMetadata' | 'tagsMetadata'>): NewTag[] {
  const tags = new Map<string, NewTag>();
  for (const [name, meta] of Object.entries(tagsMetadata)) {
    tags.set(name, { name, readOnly: true, hasPrimary: objectOf(meta).has_primary === true, metadata: objectOf(meta) });
  }
  for (const [role, meta] of Object.entries(rolesMetadata)) {
    for (const name of tagsOfRole(role, objectOf(meta))) {
      if (tags.has(name)) continue;
      const hasPrimary = name === role && objectOf(meta).has_primary === true;
      tags.set(name, { name, readOnly: true, hasPrimary, metadata: { has_primary: hasPrimary } });
    }
  }
  return [...tags.values()];
}

function componentsOf({ metadata }: ReleaseRecord | PluginRecord): readonly JsonObject[] {
  const { components_metadata: components } = metadata;
  return Array.isArray(components) ? components.filter(isObject) : [];
}
