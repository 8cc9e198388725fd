import { type Catalogue, tagNameProblem } from '../../clusters/tags/index.js';
import type { NewTagAssignment } from '../../store/index.js';
import type { OpsDependencies } from '../dependencies.js';
import type { TagAllocator } from '../inventory/role-tags.js';
import { problem } from '../problem.js';

/** A node whose roles change, as extensions see it. */
export interface ExtensionNode {
  readonly node_id: number;
  readonly name: string;
  /** All roles it has afterwards. */
  readonly node_roles: readonly string[];
  /** Roles that are new to it. */
  readonly new_roles: readonly string[];
  /** What the new roles give it: the list an extension may change. */
  readonly tags: readonly string[];
  /** What it has already. */
  readonly assigned: readonly string[];
}

export interface ExtensionRequest {
  readonly cluster: { readonly id: number; readonly name: string; readonly mode: string };
  readonly nodes: readonly ExtensionNode[];
  /** The other nodes of the cluster and their tags, e.g. to see which instances there are. */
  readonly others: readonly {
    readonly node_id: number;
    readonly node_roles: readonly string[];
    readonly tags: readonly string[];
  }[];
}

/** What a node is to get; nodes that are left out get what their roles say. */
export interface ExtensionAnswer {
  readonly node_id: number;
  readonly tags: readonly string[];
}

/**
 * Somebody else's say in which tags nodes get with their roles. Called when roles are assigned, before anything is
 * changed; what it throws refuses the assignment, with its name.
 */
export interface TagExtension {
  readonly name: string;
  assignTags(request: ExtensionRequest): readonly ExtensionAnswer[] | Promise<readonly ExtensionAnswer[]>;
}

/** Longest an extension may think: a request of a user waits for it. */
const LIMIT_MS = 30_000;

/** Asks all extensions, one after the other, each on what the one before made. */
export function tagAllocator({ store, tagExtensions }: OpsDependencies): TagAllocator {
  return async (clusterId, changes, given, catalogue) => {
    const extensions = (await tagExtensions?.()) ?? [];
    if (extensions.length === 0) return given;
    const [cluster, records, assignments] = await Promise.all([
      store.clusters.brief(clusterId),
      store.nodes.list({ ids: changes.map(({ node }) => node) }),
      store.tags.assignments(clusterId),
    ]);
    const changed = new Set(changes.map(({ node }) => node));
    const others = (await store.nodes.list({ clusterId })).filter(({ id }) => !changed.has(id));
    const tagsOf = (node: number): string[] => [
      ...new Set(assignments.filter(({ nodeId }) => nodeId === node).map(({ tag }) => tag)),
    ];
    const names = new Map(records.map(({ id, name }) => [id, name]));
    let allocated: readonly NewTagAssignment[] = given;
    for (const extension of extensions) {
      const before = allocated;
      const request: ExtensionRequest = {
        cluster: { id: cluster.id, name: cluster.name, mode: cluster.mode },
        nodes: changes
          .filter(({ node }) => given.some(({ nodeId }) => nodeId === node))
          .map(({ node, before: had, after }) => ({
            node_id: node,
            name: names.get(node) ?? `node-${node}`,
            node_roles: after,
            new_roles: after.filter((role) => !had.includes(role)),
            tags: [...new Set(before.filter(({ nodeId }) => nodeId === node).map(({ tag }) => tag))],
            assigned: tagsOf(node),
          })),
        others: others.map(({ id, roles, pendingRoles }) => ({
          node_id: id,
          node_roles: [...new Set([...roles, ...pendingRoles])],
          tags: tagsOf(id),
        })),
      };
      const answer = await ask(extension, request);
      allocated = merged(extension.name, request, answer, before, given, catalogue);
    }
    return allocated;
  };
}

async function ask(extension: TagExtension, request: ExtensionRequest): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  try {
    // Frozen copies: what an extension changes in place must not be half of an answer.
    return await Promise.race([extension.assignTags(frozen(structuredClone(request))), late]);
  } catch (error) {
    throw refusal(extension.name, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

function merged(
  name: string,
  request: ExtensionRequest,
  answer: unknown,
  before: readonly NewTagAssignment[],
  given: readonly NewTagAssignment[],
  catalogue: Catalogue,
): readonly NewTagAssignment[] {
  if (!Array.isArray(answer)) throw refusal(name, 'it answered no list of {node_id, tags}');
  const nodes = new Map(request.nodes.map((node) => [node.node_id, node]));
  const answered = new Map<number, readonly string[]>();
  for (const one of answer as readonly unknown[]) {
    const { node_id: id, tags } = (one ?? {}) as Partial<ExtensionAnswer>;
    const node = typeof id === 'number' ? nodes.get(id) : undefined;
    if (node === undefined) throw refusal(name, `it answered for node ${String(id)}, which it was not asked about`);
    if (!Array.isArray(tags)) throw refusal(name, `it answered no list of tags for node ${node.node_id}`);
    for (const tag of tags as readonly unknown[]) {
      const wrong = typeof tag === 'string' ? tagNameProblem(tag) : `${JSON.stringify(tag)} is no text`;
      if (wrong !== undefined) throw refusal(name, `it gives node ${node.node_id} a tag that is none: ${wrong}`);
      const base = (tag as string).split(':')[0]!;
      if (!catalogue.tags.has(tag as string) && !catalogue.tags.has(base) && !catalogue.roles.has(tag as string)) {
        throw refusal(
          name,
          `it gives node ${node.node_id} the tag '${String(tag)}', and the cluster has no tag '${base}'`,
        );
      }
    }
    answered.set(node.node_id, [...new Set(tags as readonly string[])]);
  }
  const kept = before.filter(({ nodeId }) => !answered.has(nodeId));
  const told = [...answered].flatMap(([nodeId, tags]) =>
    tags.flatMap((tag): readonly NewTagAssignment[] => {
      const byRoles = given.filter((one) => one.nodeId === nodeId && one.tag === tag);
      if (byRoles.length > 0) return byRoles;
      // It goes with the role that gives the tag it is an instance of; else with the first of the new roles.
      const base = tag.split(':')[0];
      const like = given.find((one) => one.nodeId === nodeId && one.tag === base);
      const role = like?.role ?? nodes.get(nodeId)!.new_roles[0] ?? null;
      return [{ nodeId, tag, source: 'extension', role }];
    }),
  );
  return [...kept, ...told];
}

const refusal = (name: string, why: string) =>
  problem('invalid', `the tag extension '${name}' refuses the assignment: ${why}`, {
    hint: 'Assign other roles or nodes, or correct the extension (setting tags.extensions).',
    errors: [{ severity: 'error', code: 'tag.extension', message: `${name}: ${why}` }],
  });

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) frozen(inner);
  return value;
}

/**
 * Reads a module's export `extensions` (a list) or `extension`.
 * @throws Error in words for whoever wrote the module
 */
export function readTagExtensions(module: unknown, path: string): readonly TagExtension[] {
  const { extensions, extension } = (module ?? {}) as { extensions?: unknown; extension?: unknown };
  const given = extensions ?? (extension === undefined ? undefined : [extension]);
  if (!Array.isArray(given)) throw new Error(`${path} exports neither \`extensions\`, a list, nor \`extension\``);
  return given.map((one: unknown, at) => {
    const { name, assignTags } = (one ?? {}) as Partial<TagExtension>;
    if (typeof name !== 'string' || name === '') throw new Error(`extension ${at} of ${path} has no name`);
    if (typeof assignTags !== 'function') throw new Error(`extension '${name}' of ${path} has no function assignTags`);
    return one as TagExtension;
  });
}
