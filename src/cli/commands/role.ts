import { isMapping } from '../../core/plain-value.js';
import type { CliCommand } from '../command.js';
import { isTabular, type OutputFlags, printList } from '../formats/output.js';
import type { Session } from '../session.js';
import { ownedBy, ownerOf, registerDescribed, singular } from './described-file.js';

/** `sitewright role …`: roles of releases and clusters, with their tags. */
export function registerRole(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('role', 'Roles: purposes of nodes, and their tags');

  ownedBy(group.verb('list', 'Roles of a release or cluster'))
    .output()
    .action(async (flags: OutputFlags & { readonly release?: string; readonly env?: string }) => {
      const { kind, id } = ownerOf(flags);
      const roles = await session.call(`GET /${kind}/:id/roles`, { params: { id } });
      const rows = roles.map(({ name, meta }) => {
        const { tags, group = null, conflicts, description = null } = isMapping(meta) ? meta : {};
        return { name, tags: listed(tags) || name, group, conflicts: listed(conflicts), description };
      });
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
    // Unlike tags in `releases_ID`, as in Fuel's clients.
    folder: (owner) => `${singular(owner)}_${owner.id}`,
    deletes: 'Delete a role that no node has',
  });
}

const listed = (value: unknown): string =>
  Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : '';
