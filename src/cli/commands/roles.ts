import { isMapping } from '../../core/data/plain-value.ts';
import type { CliCommand } from '../shell/command.ts';
import { isTabular, type OutputFlags, printList } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { ownedBy, ownerOf, registerDescribed, singular } from './described-file.ts';

/** `sitewright role …`: roles of releases and clusters, with their tags. */
export function registerRole(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('role', 'Roles: purposes of nodes, and their tags');

  ownedBy(group.verb('list', 'Roles of a release or cluster').example('--cluster lab'))
    .output()
    .action(async (flags: OutputFlags & { readonly release?: string; readonly cluster?: string }) => {
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
    deletes: 'Delete a role that no node has',
  });
}

const listed = (value: unknown): string =>
  Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : '';
