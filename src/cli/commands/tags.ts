import { given } from '../../core/data/given.ts';
import { isMapping } from '../../core/data/plain-value.ts';
import type { CliCommand } from '../shell/command.ts';
import { pluginArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printList, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { type FileFlags, ownedBy, ownerOf, registerDescribed, singular } from './described-file.ts';

interface OwnerFlags {
  readonly release?: string;
  readonly cluster?: string;
}

interface ListFlags extends OwnerFlags, OutputFlags {
  readonly plugin?: string;
}

interface Assigned {
  readonly node: readonly number[];
  readonly tag: readonly string[];
}

interface OfCluster {
  readonly cluster: string;
}

/** Whose tags `tag list` shows: those of a plugin can be read only. */
function ownerOfList({ plugin, ...flags }: OwnerFlags & { readonly plugin?: string }): { kind: string; id: string } {
  if (plugin === undefined) {
    const owner = ownerOf(flags);
    return { kind: singular(owner), id: owner.id };
  }
  if (flags.release === undefined && flags.cluster === undefined) return { kind: 'plugin', id: plugin };
  throw usageError('--plugin, --release and --cluster exclude each other', 'Give only one of them.');
}

/** `sitewright tag …`: tags of releases and clusters, and which nodes have them. */
export function registerTag(program: CliCommand, session: Session): void {
  const group = program.verb('tag', 'Tags: they place tasks on nodes');
  registerViews(group, session);
  registerDescribed<FileFlags & { readonly primary?: boolean; readonly role?: string }>(group, session, {
    noun: 'tag',
    owner: ({ kind }) => kind,
    deletes: 'Delete a user-made tag, and remove it from all nodes',
    without: {
      by: ', or by flags',
      options(command, action) {
        command
          .option('--primary', 'one of the nodes that have it is its primary; no file is read')
          .option('--no-primary', 'it has no primary; no file is read');
        return action === 'update'
          ? command
          : command.option('--role <name>', 'this role includes it from now on; no file is read');
      },
      data: ({ name, primary, role }) =>
        primary === undefined && role === undefined
          ? undefined
          : { name, meta: { has_primary: primary === true }, ...given({ role }) },
    },
  });

  registerAssignments(group, session);
}

function registerViews(group: CliCommand, session: Session): void {
  ownedBy(
    group
      .verb('list', 'Tags of a release or plugin, or of a cluster with those of its release and plugins')
      .example('--cluster lab'),
  )
    .option('-p, --plugin <id>', 'plugin: its id or name', pluginArgument)
    .output()
    .action((flags: ListFlags) => listTags(session, flags));

  ownedBy(group.verb('show', 'One tag of a release or cluster').example('--cluster lab --name mysql'))
    .requiredOption('--name <name>', 'name of the tag')
    .output()
    .action(async (flags: OwnerFlags & OutputFlags & { readonly name: string }) => {
      const { kind, id } = ownerOf(flags);
      const tag = await session.call(`GET /${kind}/:id/tags/:name`, {
        params: { id, name: flags.name },
      });
      await printOne(session.terminal, flags, tag);
    });
}

/** Which nodes have them. */
function registerAssignments(group: CliCommand, session: Session): void {
  for (const [action, method, description] of [
    ['pending', 'GET', 'Changes of role tags that the nodes of a cluster get with the next run'],
    ['apply', 'POST', 'Apply these changes now'],
  ] as const) {
    group
      .verb(action, description)
      .example('--cluster lab')
      .ofCluster('cluster', 'required')
      .calls<`${typeof method} /clusters/:id/tag_changes`, OfCluster>(session, `${method} /clusters/:id/tag_changes`, {
        ask: ({ flags }) => ({ params: { id: flags.cluster } }),
        columns: ['node_id', 'role', 'given', 'lost'],
      });
  }

  for (const [action, description] of [
    ['assign', 'Add tags to nodes, all or none'],
    ['unassign', 'Remove tags from nodes'],
  ] as const) {
    group
      .verb(action, description)
      .example('--node node-1 node-2 --tag mysql')
      .nodes('nodes', 'required')
      .names(
        '--tag <names...>',
        '--tags <names...>',
        'names of tags, e.g. mysql, or of instances, e.g. mysql:1',
        'required',
      )
      .calls<`POST /tags/${typeof action}`, Assigned>(session, `POST /tags/${action}`, {
        ask({ flags: { node: nodes, tag: tags } }) {
          if (nodes.length === 0 || tags.length === 0) throw usageError('name at least one node and one tag');
          return { body: { nodes, tags } };
        },
        columns: ['node_id', 'tag', 'source', 'role'],
      });
  }
}

async function listTags(session: Session, flags: ListFlags): Promise<void> {
  const { kind, id } = ownerOfList(flags);
  const client = await session.client();
  const tags = await client.call('GET /tags', { query: { [`${kind}_id`]: id } });
  const given = kind === 'cluster' ? await client.call('GET /clusters/:id/tag_assignments', { params: { id } }) : [];
  const rows = tags.map(({ name, meta, owner, read_only }) => ({
    name,
    has_primary: isMapping(meta) && meta.has_primary === true,
    owner: `${owner.kind} ${owner.id}`,
    read_only,
    nodes: [...new Set(given.filter(({ tag }) => tag === name).map(({ node_id }) => node_id))].join(', '),
  }));
  const known = new Set(tags.map(({ name }) => name));
  const instances = [...new Set(given.map(({ tag }) => tag).filter((tag) => !known.has(tag)))].map((name) => ({
    name,
    has_primary: false,
    owner: 'instance',
    read_only: false,
    nodes: given
      .filter(({ tag }) => tag === name)
      .map(({ node_id }) => node_id)
      .join(', '),
  }));
  const columns = ['name', 'has_primary', 'owner', 'read_only', ...(kind === 'cluster' ? ['nodes'] : [])];
  await printList(session.terminal, flags, [...rows, ...instances], columns);
}
