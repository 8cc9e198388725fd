import { type Answer, at, send } from '../kit/api.ts';
import { Action, type Given } from '../kit/ask.tsx';
import { Command, Empty, State, Title } from '../kit/parts.tsx';
import { go } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { count, some } from '../kit/words.ts';
import { NoRelease } from './clusters.tsx';

/** Installed packages and their contents. */
export function PackagesView() {
  const again = listsChanged.value;
  const packages = useData(at('GET /packages'), { again, every: 10_000 });
  const releases = useData(at('GET /releases'), { again, every: 10_000 });
  return (
    <>
      <Title of="Packages" actions={<Install />} />
      {releases.data?.length === 0 && <NoRelease />}
      <Listed
        from={packages}
        label="Packages"
        keyOf={(one) => one.id}
        empty={<NoPackage />}
        columns={[
          [
            'Package',
            (one) => (
              <>
                <a href={`/packages/${one.id}`}>{one.name}</a> {one.version}
              </>
            ),
            'name',
          ],
          ['Kind', (one) => one.kind],
          ['Contains', (one) => contents(one), 'wide'],
          ['Installed', (one) => <Ago of={one.installed_at} />, 'number'],
          ['Size', (one) => sizeOf(one), 'number'],
          [
            '',
            (one) => (
              <a href={at('GET /packages/:id/archive', { params: { id: one.id } })} download>
                Download
              </a>
            ),
            'actions',
          ],
        ]}
      />
      <h2>Releases</h2>
      <Listed
        from={releases}
        label="Releases"
        keyOf={(one) => one.id}
        empty="None. Packages contain releases."
        columns={[
          [
            'Release',
            (one) => (
              <>
                <strong>{one.name}</strong> {one.version}
              </>
            ),
            'name',
          ],
          ['State', (one) => <State of={one.state} />],
          ['System', (one) => one.operating_system],
          ['Roles', (one) => one.roles.join(', '), 'wide'],
          ['Tags', (one) => Object.keys(one.tags_metadata ?? {}).join(', '), 'wide'],
        ]}
      />
    </>
  );
}

const NoPackage = () => (
  <Empty title="No package is installed.">
    <p>
      A package contains releases with their roles, tags and graphs. Build one from a folder, and install the file
      above:
    </p>
    <Command text="sitewright package build FOLDER" />
  </Empty>
);

type Package = Answer<'GET /packages/:id'>;

export const sizeOf = (one: Package): string => `${Math.ceil(one.size / 1024).toLocaleString()} KB`;

/** The contents of a package, in one line. */
const contents = (of: Package) =>
  some([
    ...of.releases.map((one) => `release ${one.name} ${one.version}`),
    ...of.plugins.map((one) => `plugin ${one.name} ${one.version}`),
  ]) || <span class="quiet">nothing</span>;

/** An archive from this computer: installed, or brought to its version. */
function Install() {
  const install = async ({ texts: { force }, files: { archive } }: Given): Promise<string> => {
    if (archive === undefined) throw new Error('No file is chosen.');
    const installed = await send('POST /packages', { query: { force: force !== undefined }, body: archive });
    go(`/packages/${installed.id}`);
    const was = installed.created ? 'is installed' : `replaces ${installed.replaced ?? 'the previous version'}`;
    const warned =
      installed.warnings.length === 0
        ? ''
        : ` ${count(installed.warnings.length, 'warning')}: “sitewright package check FOLDER” shows them.`;
    return `${installed.name} ${installed.version} ${was}.${warned}`;
  };
  return (
    <Action
      label="Install a package"
      verb="install"
      main
      explain="All or nothing: problems are reported before anything is installed. An installed package is updated to the version of the file."
      needs="admin"
      reason={false}
      fields={[
        {
          name: 'archive',
          label: 'Archive made by “sitewright package build”',
          type: 'file',
          needed: true,
          accept: '.gz,.tgz,.tar',
        },
        { name: 'force', label: 'Allow an older version than the installed one', type: 'checkbox' },
      ]}
      act={install}
    />
  );
}
