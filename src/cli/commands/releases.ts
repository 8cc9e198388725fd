import { isMapping } from '../../core/data/plain-value.ts';
import { withoutSecretValues } from '../../core/text/secrets.ts';
import type { CliCommand } from '../shell/command.ts';
import { pluginArgument, releaseArgument } from '../shell/id-argument.ts';
import { isTabular } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { registerPluginEnabling } from './plugin-enabling.ts';

/** `sitewright release …` and `sitewright plugin …`: contents of packages. */
export function registerReleases(program: CliCommand, session: Session): void {
  const lists = [
    ['release', 'Releases: the base of clusters', ['id', 'name', 'version', 'state', 'operating_system', 'tags']],
    ['plugin', 'Plugins: extensions of releases', ['id', 'name', 'version', 'package_version', 'releases', 'tags']],
  ] as const;
  for (const [name, description, columns] of lists) {
    const group = program.verb(name, description);
    group
      .verb('list', `All ${name}s; packages contain them: package install`)
      .example()
      .calls(session, `GET /${name}s`, {
        columns,
        rows: (found, { flags }) => (isTabular(flags) ? withoutSecrets(found).map(withNames) : withoutSecrets(found)),
      });
    group
      .verb('show', `One ${name}`)
      .example(name === 'release' ? 'jammy' : 'monitoring')
      .argument('<id>', `id or name of the ${name}`, name === 'release' ? releaseArgument : pluginArgument)
      .calls(session, `GET /${name}s/:id`, { record: withoutSecrets });
    if (name === 'plugin') registerPluginEnabling(group, session);
  }
}

const withoutSecrets = <T>(contents: T): T => withoutSecretValues(contents) as T;

interface Contents {
  readonly releases?: readonly { readonly os?: string; readonly version?: string }[];
  readonly tags_metadata: unknown;
}

/** The tags, and the releases of a plugin, each as one table cell. */
const withNames = ({ releases, ...rest }: Contents): object => ({
  ...rest,
  tags: (isMapping(rest.tags_metadata) ? Object.keys(rest.tags_metadata) : []).join(', '),
  ...(releases === undefined
    ? {}
    : { releases: releases.map(({ os = '', version = '' }) => `${os} ${version}`.trim()).join(', ') }),
});
