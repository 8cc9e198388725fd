import type { ClusterNode } from '../../clusters/sources.ts';
import { applyRoleTags } from '../../clusters/tags/apply-role-tags.ts';
import { rolesHolding, tagNameProblem } from '../../clusters/tags/catalogue.ts';
import { nodesBehindRoles } from '../../clusters/tags/role-tag-changes.ts';
import type { tagBody } from '../../core/contracts/fuel/tags.ts';
import type { Wire } from '../../core/contracts/wire.ts';
import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { JsonFields, StorePorts, TagAssignment, TagOwner, TagRecord } from '../../store/index.ts';
import { objectOf } from '../inventory/json-object.ts';
import { finding, refuseIfAny } from '../inventory/refuse.ts';
import { clusterRoles, roleCatalogue } from '../inventory/role-catalogue.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { makePrimary, primaryProblems, tagsAndPrimaries } from './primary-nodes.ts';
import { readSources } from './read-sources.ts';
import type { TagExtension } from './tag-extension.ts';

export type TagUpload = Wire<typeof tagBody>;

/** A tag for lists. A tag implied by a role has the role's `owner`. */
interface TagView {
  readonly id: number | null;
  readonly name: string;
  readonly meta: JsonFields;
  readonly owner: TagOwner;
  readonly readOnly: boolean;
}

interface TagChange {
  readonly nodeId: number;
  readonly role: string;
  readonly given: readonly string[];
  readonly lost: readonly string[];
}

export class TagOperations extends Service {
  readonly #audit = (
    actor: string,
    action: string,
    owner: TagOwner | { kind: 'node'; id: number },
    details: JsonFields,
  ) => this.audit(actor, action, `${owner.kind}/${owner.id}`, details);

  /** The extensions that decide on tags when roles are assigned. */
  async extensions(): Promise<readonly TagExtension[]> {
    return (await this.deps.tagExtensions?.()) ?? [];
  }
  /** Of a release or plugin: its own. Of a cluster: its own, and those of its release, enabled plugins and roles. */
  readonly list = async (owner: TagOwner): Promise<readonly TagView[]> => {
    if (owner.kind !== 'cluster') return (await this.store.tags.list(owner)).map(viewOf);
    const byName = new Map<string, TagView>();
    for (const tag of await this.store.tags.ofCluster(owner.id)) byName.set(tag.name, viewOf(tag));
    const { tags } = await roleCatalogue(this.store, owner.id);
    for (const { name, meta, owner: by } of tags.values()) {
      if (byName.has(name)) continue;
      const { releaseId } = await this.store.clusters.brief(owner.id);
      const id = by.kind === 'plugin' ? by.id : by.kind === 'cluster' ? owner.id : releaseId;
      byName.set(name, {
        id: null,
        name,
        meta: { has_primary: meta.has_primary === true },
        owner: { kind: by.kind, id },
        readOnly: true,
      });
    }
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  /** Any tag that `list` shows for the owner. */
  async get(owner: TagOwner, name: string): Promise<TagView> {
    const tag = await this.store.tags.find(owner, name);
    if (tag !== null) return viewOf(tag);
    return (await this.list(owner)).find((one) => one.name === name) ?? viewOf(await this.#own(owner, name));
  }
  async create(owner: TagOwner, upload: TagUpload, actor: string): Promise<TagView> {
    await this.#refusePlugin(owner);
    const wrong = tagNameProblem(upload.name);
    if (wrong !== undefined) {
      refuseIfAny([
        finding('tag.bad-name', 'body.name', wrong, "Use letters, digits, _ and -, and one ':' before an instance."),
      ]);
    }
    if ((await this.store.tags.find(owner, upload.name)) !== null) {
      throw problem('conflict', `Tag with name '${upload.name}' already exists for ${owner.kind} ${owner.id}`, {
        hint: 'Change the existing one with PUT, or choose another name.',
      });
    }
    const tag = await this.store.atomically(async (within) => {
      const made = await within.tags.create(owner, columns(upload));
      // A role always has the tag of its own name, and may be added later.
      const { role, name } = upload;
      if (role !== undefined && role !== name) await giveToRole(within, owner, role, name);
      return made;
    });
    await this.#audit(actor, 'tag.create', owner, { tag: upload.name });
    return viewOf(tag);
  }
  async update(owner: TagOwner, name: string, upload: TagUpload, actor: string): Promise<TagView> {
    const tag = await this.#own(owner, name);
    await this.#refusePlugin(owner);
    if (upload.name !== name) {
      refuseIfAny([
        finding(
          'tag.renamed',
          'body.name',
          `the tag '${name}' cannot be renamed to '${upload.name}'`,
          'Create a tag with the new name, and delete this one.',
        ),
      ]);
    }
    if (tag.readOnly) throw builtIn(owner, name, 'changed');
    const changed = await this.store.atomically(async (within) => {
      if (upload.role !== undefined && upload.role !== name) await giveToRole(within, owner, upload.role, name);
      return within.tags.update(tag.id, columns(upload));
    });
    await this.#audit(actor, 'tag.update', owner, { tag: name });
    return viewOf(changed);
  }
  /** Deletes a tag with its assignments. */
  async delete(owner: TagOwner, name: string, actor: string): Promise<void> {
    const tag = await this.#own(owner, name);
    await this.#refusePlugin(owner);
    const roles = await this.#holders(owner, name);
    if (roles.length > 0) {
      throw problem(
        'conflict',
        `Tag '${name}' cannot be deleted: ${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')} of ${owner.kind} ${owner.id} ${roles.length === 1 ? 'has' : 'have'} it`,
        {
          hint: 'Remove it from the role first, or only from nodes: sitewright tag unassign --node NODE --tag TAG',
        },
      );
    }
    if (tag.readOnly) throw builtIn(owner, name, 'deleted');
    await this.store.tags.delete(tag.id);
    await this.#audit(actor, 'tag.delete', owner, { tag: name });
  }

  async assignments(cluster: number): Promise<readonly TagAssignment[]> {
    return this.store.tags.assignments(cluster);
  }
  /** Changes of role tags that the nodes of a cluster get with the next run. */
  async changes(cluster: number) {
    return changesOf(nodesBehindRoles(await readSources(this.deps, cluster)));
  }
  /** Applies them now, and returns the applied ones. */
  async applyChanges(cluster: number, actor: string) {
    const nodes = nodesBehindRoles(await readSources(this.deps, cluster));
    await applyRoleTags(this.store, cluster, nodes);
    const changes = changesOf(nodes);
    await this.#audit(actor, 'tag.apply', { kind: 'cluster', id: cluster }, { nodes: nodes.map(({ id }) => id) });
    return changes;
  }
  async ofNode(node: number): Promise<readonly TagAssignment[]> {
    const { clusterId } = await this.store.nodes.get(node);
    return clusterId === null ? [] : this.store.tags.assignments(clusterId, { nodeIds: [node] });
  }
  /** Assigns tags of their cluster to nodes, all or none; existing assignments stay. `primary-TAG` makes a node the primary. */
  async assign(nodes: readonly number[], tags: readonly string[], actor: string): Promise<void> {
    const byCluster = await clustersOf(this.store, nodes);
    const given = tagsAndPrimaries(tags);
    for (const [cluster, members] of byCluster) {
      if (given.tags.length > 0 || given.primaries.length === 0) await refuseUnknown(this.store, cluster, given.tags);
      refuseIfAny(await primaryProblems(this.store, cluster, members, given));
    }
    await this.store.atomically(async (within) => {
      for (const [cluster, members] of byCluster) {
        await within.tags.assign(
          cluster,
          members.flatMap((nodeId) => given.tags.map((tag) => ({ nodeId, tag, source: 'user' as const, role: null }))),
        );
        await makePrimary(within, cluster, members[0]!, given.primaries);
      }
    });
    for (const id of new Set(nodes)) await this.#audit(actor, 'tag.assign', { kind: 'node', id }, { tags });
  }
  async unassign(nodes: readonly number[], tags: readonly string[], actor: string): Promise<void> {
    const byCluster = await clustersOf(this.store, nodes);
    for (const [cluster, members] of byCluster) {
      const held = await this.store.tags.assignments(cluster, { nodeIds: members, tags });
      refuseIfAny(
        tags
          .filter((tag) => !held.some((one) => one.tag === tag))
          .map((tag) =>
            finding(
              'tag.not-assigned',
              'query.tags',
              `no node of ${members.join(', ')} has the tag '${tag}'`,
              `'sitewright tag list --cluster ${cluster}' shows the tags of nodes.`,
            ),
          ),
      );
    }
    await this.store.atomically(async (within) => {
      for (const [cluster, members] of byCluster) await within.tags.unassign(cluster, { nodeIds: members, tags });
    });
    for (const id of new Set(nodes)) await this.#audit(actor, 'tag.unassign', { kind: 'node', id }, { tags });
  }

  async #own(owner: TagOwner, name: string): Promise<TagRecord> {
    const tag = await this.store.tags.find(owner, name);
    if (tag !== null) return tag;
    const known = (await this.store.tags.list(owner)).map((one) => one.name);
    const above =
      owner.kind === 'cluster'
        ? (await this.store.tags.ofCluster(owner.id)).find((one) => one.name === name)
        : undefined;
    throw problem('not-found', `Tag '${name}' is not found for the ${owner.kind} ${owner.id}`, {
      hint:
        above !== undefined
          ? `It is a tag of ${above.owner.kind} ${above.owner.id}: use that path.`
          : (didYouMean(name, known) ?? (known.length === 0 ? 'It has no tags.' : `It has: ${known.join(', ')}.`)),
    });
  }

  /** Roles of the owner that have the tag. */
  async #holders(owner: TagOwner, name: string): Promise<readonly string[]> {
    if (owner.kind === 'cluster') {
      const { roles } = await roleCatalogue(this.store, owner.id);
      return [...roles]
        .filter(([role, { meta }]) => role === name || (meta.tags ?? []).includes(name))
        .map(([role]) => role);
    }
    const roles =
      owner.kind === 'release'
        ? (await this.store.releases.get(owner.id)).rolesMetadata
        : objectOf((await this.store.plugins.get(owner.id)).metadata.roles_metadata);
    return rolesHolding(name, roles as never);
  }

  async #refusePlugin(owner: TagOwner): Promise<void> {
    if (owner.kind !== 'plugin') return;
    await this.store.plugins.get(owner.id);
    throw problem('conflict', `tags of a plugin cannot be changed: they come with its package`, {
      hint: 'Change the package and install it again, or create a tag of the cluster.',
    });
  }
}

const changesOf = (nodes: readonly ClusterNode[]): readonly TagChange[] =>
  nodes.flatMap(({ id, roleTagChanges = [] }) =>
    roleTagChanges
      .filter(({ given, lost }) => given.length + lost.length > 0)
      .map(({ role, given, lost }) => ({ nodeId: id, role, given, lost })),
  );

function columns({ name, meta }: TagUpload) {
  return { name, readOnly: false, hasPrimary: meta.has_primary, metadata: meta };
}

const viewOf = ({ id, name, owner, readOnly, hasPrimary, metadata }: TagRecord): TagView => ({
  id,
  name,
  owner,
  readOnly,
  meta: { ...metadata, has_primary: hasPrimary },
});

const builtIn = (owner: TagOwner, name: string, what: string) =>
  problem('conflict', `Tag '${name}' of ${owner.kind} ${owner.id} is built in and cannot be ${what}`, {
    hint: 'It comes with a package or a role. Create your own tag instead.',
  });

/** Adds the tag to a role. */
async function giveToRole(store: StorePorts, owner: TagOwner, role: string, tag: string): Promise<void> {
  const added = (roles: JsonFields): JsonFields => {
    const meta = objectOf(roles[role]);
    const tags = Array.isArray(meta.tags) ? (meta.tags as string[]) : [role];
    return { ...roles, [role]: { ...meta, tags: [...new Set([...tags, tag])] } };
  };
  const unknown = (known: readonly string[]) =>
    problem('invalid', `there is no role '${role}' of ${owner.kind} ${owner.id}`, {
      hint: didYouMean(role, known) ?? `Known: ${known.join(', ') || 'none'}.`,
      errors: [{ severity: 'error', code: 'role.unknown', message: `no role '${role}'`, path: 'query.role' }],
    });
  if (owner.kind === 'release') {
    const { rolesMetadata } = await store.releases.get(owner.id);
    if (!Object.hasOwn(rolesMetadata, role)) throw unknown(Object.keys(rolesMetadata));
    await store.releases.update(owner.id, { rolesMetadata: added(rolesMetadata) });
    return;
  }
  const { attributes } = await store.clusters.get(owner.id);
  const roles = clusterRoles(attributes);
  const all = await roleCatalogue(store, owner.id);
  const known = all.roles.get(role);
  if (known === undefined) throw unknown([...all.roles.keys()]);
  // Changes a role of the release only for this cluster, which gets its own copy.
  const start = Object.hasOwn(roles, role) ? roles : { ...roles, [role]: known.meta };
  await store.clusters.update(owner.id, { attributes: { ...attributes, roles_metadata: added(start as JsonFields) } });
}

/** The nodes by cluster. @throws for unknown nodes, and for nodes without a cluster */
async function clustersOf(
  store: StorePorts,
  nodes: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (nodes.length === 0) {
    refuseIfAny([finding('tag.no-node', 'query.node_id', 'no node is given', 'Give at least one: node_id=1.')]);
  }
  const ids = [...new Set(nodes)];
  const known = new Map((await store.nodes.list({ ids })).map((node) => [node.id, node]));
  const absent = ids.filter((id) => !known.has(id));
  if (absent.length > 0) {
    throw problem('not-found', `Node not found: ${absent.join(', ')}`, { hint: 'GET /api/v1/nodes lists all nodes.' });
  }
  const errors: Diagnostic[] = [];
  const byCluster = new Map<number, number[]>();
  for (const id of ids) {
    const node = known.get(id)!;
    const { clusterId } = node;
    if (clusterId === null) {
      errors.push(
        finding(
          'tag.node-without-cluster',
          'query.node_id',
          `${calledText('node', node)} is in no cluster, so it can have no tags`,
          'Assign it to a cluster first.',
        ),
      );
    } else byCluster.set(clusterId, [...(byCluster.get(clusterId) ?? []), id]);
  }
  refuseIfAny(errors);
  return byCluster;
}

/** Only tags of the cluster, names of its roles, and instances of these (`mysql:1`) can be assigned. */
async function refuseUnknown(store: StorePorts, cluster: number, tags: readonly string[]): Promise<void> {
  if (tags.length === 0)
    refuseIfAny([finding('tag.none', 'query.tags', 'no tag is given', 'Give at least one: tags=mysql.')]);
  const { tags: known, roles } = await roleCatalogue(store, cluster);
  const names = [...known.keys(), ...roles.keys()];
  const named = calledText('cluster', await store.clusters.brief(cluster));
  refuseIfAny(
    tags.flatMap((tag): readonly Diagnostic[] => {
      const wrong = tagNameProblem(tag);
      if (wrong !== undefined)
        return [finding('tag.bad-name', 'query.tags', wrong, 'Write names like mysql, or mysql:1.')];
      if (names.includes(tag) || names.includes(tag.split(':')[0]!)) return [];
      return [
        finding(
          'tag.unknown',
          'query.tags',
          `Tag '${tag}' is not found for ${named}`,
          didYouMean(tag, names) ?? `Create it first: 'sitewright tag create --cluster ${cluster} --name ${tag}'.`,
        ),
      ];
    }),
  );
}
