import { apiPath } from '../client.js';
import type { CliCommand } from '../command.js';
import { type OutputFlags, printList, printOne } from '../formats/output.js';
import { idListArgument, nameListArgument } from '../id-argument.js';
import { usageError } from '../problem.js';
import type { Session } from '../session.js';
import {
  describedFile,
  type FileFlags,
  inFile,
  ownedBy,
  ownerOf,
  readDescribed,
  writeDescribed,
} from './described-file.js';

interface OwnerFlags {
  readonly release?: string;
  readonly env?: string;
}

interface Assignment {
  readonly node_id: number;
  readonly tag: string;
  readonly source: string;
  readonly role: string | null;
}

interface OwnedTag {
  readonly name: string;
  readonly meta: { readonly has_primary?: boolean };
  readonly owner: { readonly kind: string; readonly id: number };
  readonly read_only: boolean;
}

/** `sitewright tag …`: tags of releases and clusters, and which nodes have them. */
export function registerTag(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.command('tag').description('Tags: what places tasks on nodes');
  const named = (command: CliCommand): CliCommand =>
    ownedBy(command).requiredOption('-n, --name <name>', 'name of the tag');
  const filed = (command: CliCommand): CliCommand => inFile(named(command));
  const singular = { releases: 'release', clusters: 'cluster' } as const;

  ownedBy(group.command('list').description('Tags of a release, or of a cluster with those of its release and plugins'))
    .output()
    .action(async (flags: OwnerFlags & OutputFlags) => {
      const { kind, id } = ownerOf(flags);
      const client = await session.client();
      const tags = await client.request<readonly OwnedTag[]>('GET', '/tags', {
        query: { [`${singular[kind]}_id`]: id },
      });
      const given =
        kind === 'releases'
          ? []
          : await client.request<readonly Assignment[]>('GET', apiPath`/clusters/${id}/tag_assignments`);
      const rows = tags.map(({ name, meta, owner, read_only }) => ({
        name,
        has_primary: meta.has_primary === true,
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
      const columns = ['name', 'has_primary', 'owner', 'read_only', ...(kind === 'clusters' ? ['nodes'] : [])];
      await printList(terminal, flags, [...rows, ...instances], columns);
    });

  named(group.command('show').description('One tag of a release or cluster'))
    .output()
    .action(async (flags: OwnerFlags & OutputFlags & { readonly name: string }) => {
      const { kind, id } = ownerOf(flags);
      const tag = await (await session.client()).request<object>('GET', apiPath`/${kind}/${id}/tags/${flags.name}`);
      await printOne(terminal, flags, tag);
    });

  for (const [action, method] of [
    ['create', 'POST'],
    ['update', 'PUT'],
  ] as const) {
    filed(
      group
        .command(action)
        .description(
          `${action === 'create' ? 'Create' : 'Change'} a tag as DIR/OWNER_ID/NAME.FORMAT describes it, or by --primary`,
        ),
    )
      .option('--primary', 'one of the nodes that have it is its primary; no file is read')
      .option('--no-primary', 'it has no primary; no file is read')
      .action(async (flags: FileFlags & { readonly primary?: boolean }) => {
        const owner = ownerOf(flags);
        const file = await describedFile(owner, flags);
        const data =
          flags.primary === undefined
            ? await readDescribed(`tag '${flags.name}'`, file, flags.format)
            : { name: flags.name, meta: { has_primary: flags.primary } };
        const at =
          action === 'create'
            ? apiPath`/${owner.kind}/${owner.id}/tags`
            : apiPath`/${owner.kind}/${owner.id}/tags/${flags.name}`;
        await (await session.client()).request(method, at, { body: data });
        const from = flags.primary === undefined ? ` from ${file}` : '';
        terminal.out(
          `Description of tag '${flags.name}' for ${owner.kind} with id ${owner.id} was ${action}d${from}\n`,
        );
      });
  }

  filed(group.command('download').description('Write the description of a tag to a file')).action(
    async (flags: FileFlags) => {
      const owner = ownerOf(flags);
      const data = await (await session.client()).request<object>(
        'GET',
        apiPath`/${owner.kind}/${owner.id}/tags/${flags.name}`,
      );
      const file = await describedFile(owner, flags);
      await writeDescribed(file, flags.format, data);
      terminal.out(
        `Description data of tag '${flags.name}' within ${owner.kind} id ${owner.id} was stored in ${file}\n`,
      );
    },
  );

  named(group.command('delete').description('Delete a tag that a user made, and take it from all nodes'))
    .output()
    .action(async (flags: OwnerFlags & OutputFlags & { readonly name: string }) => {
      const { kind, id } = ownerOf(flags);
      await (await session.client()).request('DELETE', apiPath`/${kind}/${id}/tags/${flags.name}`);
      const text = `Tag '${flags.name}' was deleted from ${kind} with id ${id}\n`;
      await printOne(terminal, flags, { name: flags.name, [singular[kind]]: Number(id) }, text);
    });

  for (const [action, description] of [
    ['assign', 'Give nodes tags, all or none; what they have stays'],
    ['unassign', 'Take tags from nodes'],
  ] as const) {
    group
      .command(action)
      .description(description)
      .requiredOption('-n, --nodes <ids...>', 'ids of nodes', idListArgument)
      .requiredOption(
        '-t, --tags <names...>',
        'names of tags, e.g. mysql, or of instances, e.g. mysql:1',
        nameListArgument,
      )
      .output()
      .action(async (flags: OutputFlags & { readonly nodes: readonly number[]; readonly tags: readonly string[] }) => {
        if (flags.nodes.length === 0 || flags.tags.length === 0) throw usageError('name at least one node and one tag');
        const body = { nodes: flags.nodes, tags: flags.tags };
        const given = await (await session.client()).request<readonly Assignment[]>('POST', `/tags/${action}`, {
          body,
        });
        await printList(terminal, flags, given, ['node_id', 'tag', 'source', 'role']);
      });
  }
}
