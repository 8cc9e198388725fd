import type { CliCommand } from '../command.ts';
import { isTabular, type OutputFlags, printList, printOne } from '../formats/output.ts';
import { idArgument } from '../id-argument.ts';
import type { Session } from '../session.ts';
import { registerPluginEnabling } from './plugin-enabling.ts';

/** `sitewright release …` and `sitewright plugin …`: contents of packages. */
export function registerReleases(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const lists = [
    ['release', 'Releases: the base of clusters', ['id', 'name', 'version', 'state', 'operating_system']],
    ['plugin', 'Plugins: extensions of releases', ['id', 'name', 'version', 'package_version', 'releases']],
  ] as const;
  for (const [name, description, columns] of lists) {
    const group = program.verb(name, description);
    group
      .verb('list', `All ${name}s; packages contain them: package install`)
      .output()
      .action(async (flags: OutputFlags) => {
        const found = await session.call(`GET /${name}s`);
        await printList(terminal, flags, isTabular(flags) ? found.map(withVersions) : found, columns);
      });
    group
      .verb('show', `One ${name}`)
      .argument('<id>', `id of the ${name}`, idArgument)
      .output()
      .action(async (id: string, flags: OutputFlags) => {
        const found = await session.call(`GET /${name}s/:id`, { params: { id } });
        await printOne(terminal, flags, found);
      });
    if (name === 'plugin') registerPluginEnabling(group, session);
  }
}

interface Contents {
  readonly releases?: readonly { readonly os?: string; readonly version?: string }[];
}

/** The releases of a plugin, as one table cell. */
const withVersions = ({ releases, ...rest }: Contents): object =>
  releases === undefined
    ? rest
    : { ...rest, releases: releases.map(({ os = '', version = '' }) => `${os} ${version}`.trim()).join(', ') };
