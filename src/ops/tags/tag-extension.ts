import { type Catalogue, tagNameProblem } from '../../clusters/tags/catalogue.ts';
import { isInstanceTag } from '../../graph/index.ts';
import type { NewTagAssignment, Store } from '../../store/index.ts';
import type { TagAllocator } from '../inventory/role-tags.ts';
import { problem } from '../problem.ts';

/** A node with changing roles, as extensions see it. */
interface ExtensionNode {
  readonly node_id: number;
  readonly name: string;
  /** All its roles after the change. */
  readonly node_roles: readonly string[];
  /** Its new roles; none when only the tags of its roles have changed. */
  readonly new_roles: readonly string[];
  /** Tags from the new roles, or from changes of its roles: the list that an extension may change. */
  readonly tags: readonly string[];
  /** Its current tags. */
  readonly assigned: readonly string[];
}

interface ExtensionRequest {
  readonly cluster: { readonly id: number; readonly name: string; readonly mode: string };
  readonly nodes: readonly ExtensionNode[];
  /** The other nodes of the cluster and their tags, e.g. to find existing instances. */
  readonly others: readonly {
    readonly node_id: number;
    readonly node_roles: readonly string[];
    readonly tags: readonly string[];
  }[];
}

/** The tags for a node; nodes without an answer get the tags of their roles. */
interface ExtensionAnswer {
  readonly node_id: number;
  readonly tags: readonly string[];
}

/**
 * Third-party code that decides which tags nodes get with their roles. Called when roles are assigned, before any
 * change, and for every plan while changes of roles' tags are pending. An error refuses the assignment or the plan, and
 * names the extension.
 */
export interface TagExtension {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  assignTags(request: ExtensionRequest): readonly ExtensionAnswer[] | Promise<readonly ExtensionAnswer[]>;
}

interface Extended {
  readonly store: Store;
  readonly tagExtensions?: (() => Promise<readonly TagExtension[]>) | undefined;
}

/** Time limit of an extension: a user's request waits for it. */
const LIMIT_MS = 30_000;

/** Calls all extensions in order, each with the result of the one before. */
export function tagAllocator({ store, tagExtensions }: Extended): TagAllocator {
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
    // Frozen copies, so that changes in place cannot become part of an answer.
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
  if (!Array.isArray(answer)) throw refusal(name, 'its answer is not a list of {node_id, tags}');
  const nodes = new Map(request.nodes.map((node) => [node.node_id, node]));
  const answered = new Map<number, readonly string[]>();
  for (const one of answer as readonly unknown[]) {
    const { node_id: id, tags } = (one ?? {}) as Partial<ExtensionAnswer>;
    const node = typeof id === 'number' ? nodes.get(id) : undefined;
    if (node === undefined) throw refusal(name, `its answer contains node ${String(id)}, which was not in the request`);
    if (!Array.isArray(tags)) throw refusal(name, `its answer for node ${node.node_id} is not a list of tags`);
    for (const tag of tags as readonly unknown[]) {
      const wrong = typeof tag === 'string' ? tagNameProblem(tag) : `${JSON.stringify(tag)} is not text`;
      if (wrong !== undefined) throw refusal(name, `it gives node ${node.node_id} an invalid tag: ${wrong}`);
      // Instances may be of unknown tags, as `cluster:2` in the specification: they are facts of the node.
      if (isInstanceTag(tag as string)) continue;
      if (!catalogue.tags.has(tag as string) && !catalogue.roles.has(tag as string)) {
        throw refusal(name, `it gives node ${node.node_id} the tag '${String(tag)}', but the cluster has no such tag`);
      }
    }
    answered.set(node.node_id, [...new Set(tags as readonly string[])]);
  }
  const kept = before.filter(({ nodeId }) => !answered.has(nodeId));
  const answers = [...answered].flatMap(([nodeId, tags]) =>
    tags.flatMap((tag): readonly NewTagAssignment[] => {
      const byRoles = given.filter((one) => one.nodeId === nodeId && one.tag === tag);
      if (byRoles.length > 0) return byRoles;
      // It belongs to the role whose tag it is an instance of, else to the first new or changed role.
      const own = given.filter((one) => one.nodeId === nodeId);
      const like = own.find((one) => one.tag === tag.split(':')[0]);
      const role = like?.role ?? nodes.get(nodeId)!.new_roles[0] ?? own[0]?.role ?? null;
      return [{ nodeId, tag, source: 'extension', role }];
    }),
  );
  return [...kept, ...answers];
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
 * @throws Error with a message for the module's author
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
