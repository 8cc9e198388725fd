import { apiPath } from '../client.js';
import type { CliCommand } from '../command.js';
import { isTabular, type OutputFlags, printList } from '../formats/output.js';
import type { Session } from '../session.js';
import { ownedBy, ownerOf, registerDescribed, singular } from './described-file.js';

interface Role {
  readonly name: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** `sitewright role …`: roles of releases and clusters, with the tags they bring. */
export function registerRole(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.command('role').description('Roles: what nodes are for, and the tags they bring');

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

  registerDescribed(group, session, {
    noun: 'role',
    owner: singular,
    // Where tags lie in `releases_ID`: so the clients of the Fuel line have it.
    folder: (owner) => `${singular(owner)}_${owner.id}`,
    deletes: 'Delete a role that no node has',
  });
}

const listed = (value: unknown): string =>
  Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : '';
