import type { RoleBody } from '../../core/contracts/fuel/roles.ts';
import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

import type { ClusterDetails, Json, JsonObject, ReleaseRecord } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { isObject, objectOf, textsOf } from './json-object.ts';
import { finding, refuseIfAny } from './refuse.ts';
import { tagsOfRelease } from './releases.ts';
import { clusterRoles, roleCatalogue } from './role-catalogue.ts';

interface RoleOwner {
  readonly kind: 'release' | 'cluster';
  readonly id: number;
}

export interface Role {
  readonly name: string;
  readonly meta: Json;
  readonly volumes_roles_mapping: Json;
}

export class RoleOperations extends Service {
  readonly #audit = (actor: string, action: string, owner: RoleOwner, role: string) =>
    this.audit(actor, action, `${owner.kind}/${owner.id}`, { role });

  /** Of a release or plugin: its own. Of a cluster: its own, and those of its release and enabled plugins. */
  async list(owner: RoleOwner): Promise<readonly Role[]> {
    return [...(await this.#listed(owner)).values()];
  }
  /** A role of the owner itself. */
  async get(owner: RoleOwner, name: string): Promise<Role> {
    const roles = await this.#listed(owner);
    const role = roles.get(name);
    if (role === undefined) throw this.#missing(owner, name, [...roles.keys()]);
    return role;
  }
  async create(owner: RoleOwner, upload: RoleBody, actor: string): Promise<Role> {
    const held = await this.#open(owner);
    if ((await this.#listed(owner)).has(upload.name)) {
      throw problem('conflict', `Role with name '${upload.name}' already exists for ${owner.kind} ${owner.id}`, {
        hint: 'Change it with PUT, or choose another name.',
      });
    }
    refuseIfAny(checkRole(upload, held.tags, held.volumes, true));
    await held.write(...withRole(held, upload));
    await this.#audit(actor, 'role.create', owner, upload.name);
    return { ...upload } as unknown as Role;
  }
  async update(owner: RoleOwner, name: string, upload: RoleBody, actor: string): Promise<Role> {
    // A role of the release or of a plugin is changed only for this cluster, which gets its own copy.
    const held = await this.#holding(owner, name);
    refuseIfAny([
      ...(upload.name === name
        ? []
        : [
            finding(
              'role.renamed',
              'body.name',
              `a role cannot be renamed: '${name}' to '${upload.name}'`,
              `Write name: ${name}.`,
            ),
          ]),
      // A role without volumes may stay so.
      ...checkRole(upload, held.tags, held.volumes, hasVolumes(held.volumes, name)),
    ]);
    await held.write(...withRole(held, upload));
    await this.#audit(actor, 'role.update', owner, name);
    return { ...upload } as unknown as Role;
  }
  /** Deletes a role with its assignments. */
  async delete(owner: RoleOwner, name: string, actor: string): Promise<void> {
    const held = await this.#holding(owner, name);
    const below = await this.#isBelow(owner, name);
    if (!held.own) {
      throw problem('conflict', `Role '${name}' does not belong to the cluster but to its release or a plugin`, {
        hint: 'Delete it in the release: /api/v1/releases/ID/roles/NAME.',
      });
    }
    const clusters =
      owner.kind === 'release' ? await this.store.clusters.list({ releaseId: owner.id }) : below ? [] : [owner];
    const nodes = await Promise.all(clusters.map(({ id }) => this.store.nodes.list({ clusterId: id, roles: [name] })));
    const first = nodes.flat()[0];
    if (first !== undefined) {
      throw problem('conflict', `Can't delete role ${name} that is assigned to ${calledText('node', first)}.`, {
        hint: `Remove it from ${nodes.flat().length === 1 ? 'the node' : `these nodes`} first: ${nodes
          .flat()
          .slice(0, 20)
          .map((node) => node.id)
          .join(', ')}.`,
      });
    }
    const { [name]: _role, ...roles } = held.roles;
    const { [name]: _volumes, ...mapping } = objectOf(held.volumes.volumes_roles_mapping);
    await held.write(roles, { ...held.volumes, volumes_roles_mapping: mapping });
    await this.#audit(actor, 'role.delete', owner, name);
  }

  /** The owner's own roles, and how to write them back. */
  async #open(owner: RoleOwner) {
    if (owner.kind === 'release') {
      const release = await this.store.releases.get(owner.id);
      return {
        roles: release.rolesMetadata,
        volumes: objectOf(release.metadata.volumes_metadata),
        tags: new Set([
          ...tagsOfRelease(release).map(({ name }) => name),
          ...(await this.store.tags.list(owner)).map(({ name }) => name),
        ]),
        write: (roles: JsonObject, volumes: JsonObject) => this.#writeRelease(release, roles, volumes),
      };
    }
    const cluster = await this.store.clusters.get(owner.id);
    const release = await this.store.releases.get(cluster.releaseId);
    const catalogue = await roleCatalogue(this.store, owner.id);
    return {
      roles: clusterRoles(cluster.attributes),
      volumes: {
        ...objectOf(release.metadata.volumes_metadata),
        volumes_roles_mapping: objectOf(cluster.attributes.volumes_roles_mapping),
      },
      tags: new Set([...catalogue.tags.keys(), ...(await this.store.tags.ofCluster(owner.id)).map(({ name }) => name)]),
      write: (roles: JsonObject, volumes: JsonObject) => this.#writeCluster(cluster, roles, volumes),
    };
  }

  async #writeRelease(release: ReleaseRecord, roles: JsonObject, volumes: JsonObject): Promise<void> {
    await this.store.atomically(async (within) => {
      const changed = await within.releases.update(release.id, {
        rolesMetadata: roles,
        metadata: { ...release.metadata, volumes_metadata: volumes },
      });
      await within.tags.replaceReadOnly({ kind: 'release', id: release.id }, tagsOfRelease(changed));
    });
  }

  async #writeCluster(cluster: ClusterDetails, roles: JsonObject, volumes: JsonObject): Promise<void> {
    await this.store.clusters.update(cluster.id, {
      attributes: {
        ...cluster.attributes,
        roles_metadata: roles,
        volumes_roles_mapping: objectOf(volumes.volumes_roles_mapping),
      },
    });
  }

  async #listed(owner: RoleOwner): Promise<ReadonlyMap<string, Role>> {
    const own = await this.#open(owner);
    const roles = new Map<string, Role>();
    const add = (all: JsonObject, volumes: JsonObject) => {
      const mapping = objectOf(volumes.volumes_roles_mapping);
      for (const [name, meta] of Object.entries(all))
        roles.set(name, {
          name,
          meta,
          volumes_roles_mapping: mapping[name] ?? roles.get(name)?.volumes_roles_mapping ?? [],
        });
    };
    if (owner.kind === 'cluster') {
      const { releaseId } = await this.store.clusters.brief(owner.id);
      const release = await this.store.releases.get(releaseId);
      add(release.rolesMetadata, objectOf(release.metadata.volumes_metadata));
    }
    if (owner.kind === 'cluster') {
      for (const { plugin } of await this.store.plugins.ofCluster(owner.id, { enabled: true }))
        add(objectOf(plugin.metadata.roles_metadata), objectOf(plugin.metadata.volumes_metadata));
    }
    add(own.roles, own.volumes);
    return roles;
  }

  #missing(owner: RoleOwner, name: string, known: readonly string[]) {
    return problem('not-found', `Role '${name}' is not found for the ${owner.kind} ${owner.id}`, {
      hint:
        didYouMean(name, known) ??
        (known.length === 0 ? 'It has no roles.' : `It has: ${[...known].sort().join(', ')}.`),
    });
  }

  /** The owner's role. @throws `not-found` if it has no such role, not even from a lower layer */
  async #holding(owner: RoleOwner, name: string) {
    const held = await this.#open(owner);
    if (Object.hasOwn(held.roles, name)) return { ...held, own: true };
    const all = await this.#listed(owner);
    if (!all.has(name)) throw this.#missing(owner, name, [...all.keys()]);
    return { ...held, own: false };
  }

  /** Whether a lower layer has the role, so that nodes may keep it when the owner's copy goes. */
  async #isBelow(owner: RoleOwner, name: string): Promise<boolean> {
    if (owner.kind === 'release') return false;
    const { releaseId } = await this.store.clusters.brief(owner.id);
    const plugins = await this.store.plugins.ofCluster(owner.id, { enabled: true });
    const layers = [
      (await this.store.releases.get(releaseId)).rolesMetadata,
      ...plugins.map(({ plugin }) => objectOf(plugin.metadata.roles_metadata)),
    ];
    return layers.some((roles) => Object.hasOwn(roles, name));
  }
}

function withRole(
  { roles, volumes }: { readonly roles: JsonObject; readonly volumes: JsonObject },
  { name, meta, volumes_roles_mapping }: RoleBody,
): [JsonObject, JsonObject] {
  const known = objectOf(volumes.volumes_roles_mapping);
  const own = { [name]: volumes_roles_mapping as unknown as Json };
  const mapping = volumes_roles_mapping.length === 0 && !Object.hasOwn(known, name) ? known : { ...known, ...own };
  return [
    { ...roles, [name]: meta as unknown as Json },
    { ...volumes, volumes_roles_mapping: mapping },
  ];
}

const hasVolumes = ({ volumes_roles_mapping: mapping }: JsonObject, role: string): boolean => {
  const volumes = objectOf(mapping)[role];
  return Array.isArray(volumes) && volumes.length > 0;
};

function checkRole(
  role: RoleBody,
  tags: ReadonlySet<string>,
  volumes: JsonObject,
  needsVolumes: boolean,
): readonly Diagnostic[] {
  const absent = textsOf(role.meta.tags).filter((tag) => tag !== role.name && !tags.has(tag));
  const declared = Array.isArray(volumes.volumes)
    ? volumes.volumes.filter(isObject).map((one) => String(one.id))
    : undefined;
  const strange = role.volumes_roles_mapping.map(({ id }) => id).filter((id) => declared && !declared.includes(id));
  return [
    ...(needsVolumes && role.volumes_roles_mapping.length === 0
      ? [
          finding(
            'role.no-volumes',
            'body.volumes_roles_mapping',
            'volumes_roles_mapping must have at least one item',
            'Write [{"id": "os", "allocate_size": "min"}].',
          ),
        ]
      : []),
    ...absent.map((tag) =>
      finding(
        'role.unknown-tag',
        'body.meta.tags',
        `Role ${role.name} contains non-existent tag ${tag}`,
        didYouMean(tag, [...tags]) ?? 'Create the tag first.',
      ),
    ),
    ...strange.map((id) =>
      finding(
        'role.unknown-volume',
        'body.volumes_roles_mapping',
        `Wrong data in volumes_roles_mapping. Volumes with ids ${id} are not in the list of allowed volumes ${declared!.join(', ')}`,
        didYouMean(id, declared!) ?? `Use one of ${declared!.join(', ')}.`,
      ),
    ),
  ];
}
