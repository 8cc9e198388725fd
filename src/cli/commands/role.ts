import { apiPath } from '../client.js';
import type { CliCommand } from '../command.js';
import { isTabular, type OutputFlags, printList, printOne } from '../formats/output.js';
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

interface Role {
  readonly name: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** `sitewright role …`: roles of releases and clusters, with the tags they bring. */
export function registerRole(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.command('role').description('Roles: what nodes are for, and the tags they bring');
  const filed = (command: CliCommand): CliCommand =>
    inFile(ownedBy(command).requiredOption('-n, --name <name>', 'name of the role'));

  ownedBy(group.command('list').description('Roles of a release or cluster'))
    .output()
    .action(async (flags: OutputFlags & { readonly release?: string; readonly env?: string }) => {
      const { kind, id } = ownerOf(flags);
      const roles = await (await session.client()).request<readonly Role[]>('GET', apiPath`/${kind}/${id}/roles`);
      const rows = roles.map(({ name, meta }) => ({
        name,
        tags: listed(meta.tags) || name,
        group: meta.group ?? null,
        conflicts: listed(meta.conflicts),
        description: meta.description ?? null,
      }));
      await printList(terminal, flags, isTabular(flags) ? rows : roles, [
        'name',
        'tags',
        'group',
        'conflicts',
        'description',
      ]);
    });

  for (const [action, method] of [
    ['create', 'POST'],
    ['update', 'PUT'],
  ] as const) {
    filed(
      group
        .command(action)
        .description(`${action === 'create' ? 'Create' : 'Change'} a role as DIR/OWNER_ID/NAME.FORMAT describes it`),
    ).action(async (flags: FileFlags) => {
      const owner = ownerOf(flags);
      const file = await describedFile(owner, flags, folderOf(owner));
      const data = await readDescribed(`role '${flags.name}'`, file, flags.format);
      const at =
        action === 'create'
          ? apiPath`/${owner.kind}/${owner.id}/roles`
          : apiPath`/${owner.kind}/${owner.id}/roles/${flags.name}`;
      await (await session.client()).request(method, at, { body: data });
      terminal.out(
        `Description of role '${flags.name}' for ${singular(owner)} with id ${owner.id} was ${action}d from ${file}\n`,
      );
    });
  }

  filed(group.command('download').description('Write the description of a role to a file')).action(
    async (flags: FileFlags) => {
      const owner = ownerOf(flags);
      const data = await (await session.client()).request<object>(
        'GET',
        apiPath`/${owner.kind}/${owner.id}/roles/${flags.name}`,
      );
      const file = await describedFile(owner, flags, folderOf(owner));
      await writeDescribed(file, flags.format, data);
      terminal.out(
        `Description data of role '${flags.name}' within ${singular(owner)} id ${owner.id} was stored in ${file}\n`,
      );
    },
  );

  ownedBy(
    group
      .command('delete')
      .description('Delete a role that no node has')
      .requiredOption('-n, --name <name>', 'name of the role')
      .output(),
  ).action(async (flags: OutputFlags & { readonly release?: string; readonly env?: string; readonly name: string }) => {
    const owner = ownerOf(flags);
    await (await session.client()).request('DELETE', apiPath`/${owner.kind}/${owner.id}/roles/${flags.name}`);
    const text = `Role '${flags.name}' was deleted from ${singular(owner)} with id ${owner.id}\n`;
    await printOne(terminal, flags, { name: flags.name, [singular(owner)]: Number(owner.id) }, text);
  });
}

const singular = ({ kind }: { readonly kind: string }): string => (kind === 'releases' ? 'release' : 'cluster');

/** Roles lie in `release_ID`, where tags lie in `releases_ID`: so the clients of the Fuel line have it. */
const folderOf = (owner: { readonly kind: string; readonly id: string }): string => `${singular(owner)}_${owner.id}`;

const listed = (value: unknown): string =>
  Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : '';
