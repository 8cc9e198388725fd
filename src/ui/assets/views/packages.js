import { request } from '../api.js';
import { Action } from '../ask.js';
import { html } from '../html.js';
import { Command, Empty, Loaded, State, Title } from '../parts.js';
import { go } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago } from '../times.js';
import { count, some } from '../words.js';
import { NoRelease } from './clusters.js';

/** Installed packages and their contents. */
export function PackagesView() {
  const again = listsChanged.value;
  const packages = useData('/api/v1/packages', { again, every: 10_000 });
  const releases = useData('/api/v1/releases', { again, every: 10_000 });
  return html`<${Title} of="Packages" actions=${html`<${Install} />`} />
    ${releases.data?.length === 0 && html`<${NoRelease} />`}
    <${Loaded} from=${packages}>
      ${(all) =>
        html`<${Table}
          label="Packages"
          rows=${all}
          keyOf=${(one) => one.id}
          empty=${html`<${NoPackage} />`}
          columns=${[
            ['Package', (one) => html`<a href=${`/packages/${one.id}`}>${one.name}</a> ${one.version}`, 'name'],
            ['Kind', (one) => one.kind],
            ['Brought', (one) => brought(one), 'wide'],
            ['Installed', (one) => html`<${Ago} of=${one.installed_at} />`, 'number'],
            ['Size', (one) => sizeOf(one), 'number'],
            ['', (one) => html`<a href=${`/api/v1/packages/${one.id}/archive`} download>Download</a>`, 'actions'],
          ]}
        />`}
    <//>
    <h2>Releases</h2>
    <${Loaded} from=${releases}>
      ${(all) =>
        html`<${Table}
          label="Releases"
          rows=${all}
          keyOf=${(one) => one.id}
          empty="None. Packages contain releases."
          columns=${[
            ['Release', (one) => html`<strong>${one.name}</strong> ${one.version}`, 'name'],
            ['State', (one) => html`<${State} of=${one.state} />`],
            ['System', (one) => one.operating_system],
            ['Roles', (one) => one.roles.join(', '), 'wide'],
            ['Tags', (one) => Object.keys(one.tags_metadata).join(', '), 'wide'],
          ]}
        />`}
    <//>`;
}

const NoPackage = () => html`<${Empty} title="No package is installed.">
  <p>A package contains releases with their roles, tags and graphs. Build one from a folder, and install the file above:</p>
  <${Command} text="sitewright package build FOLDER" />
<//>`;

export const sizeOf = (one) => `${Math.ceil(one.size / 1024).toLocaleString()} KB`;

/** The contents of a package, in one line. */
const brought = (of) =>
  some([
    ...of.releases.map((one) => `release ${one.name} ${one.version}`),
    ...of.plugins.map((one) => `plugin ${one.name} ${one.version}`),
  ]) || html`<span class="quiet">nothing</span>`;

/** An archive from this computer: installed, or brought to its version. */
function Install() {
  const install = async ({ archive, force }) => {
    const answer = await request(`/api/v1/packages${force ? '?force=true' : ''}`, { method: 'POST', body: archive });
    const installed = await answer.json();
    go(`/packages/${installed.id}`);
    const was = installed.created ? 'is installed' : `replaces ${installed.replaced ?? 'the previous version'}`;
    const warned =
      installed.warnings.length === 0
        ? ''
        : ` ${count(installed.warnings.length, 'warning')}: sitewright package check shows them.`;
    return `${installed.name} ${installed.version} ${was}.${warned}`;
  };
  return html`<${Action}
    label="Install a package"
    explain="All or nothing: problems are reported before anything is installed. An installed package is updated to the version of the file."
    needs="admin"
    reason=${false}
    fields=${[
      {
        name: 'archive',
        label: 'Archive made by “sitewright package build”',
        type: 'file',
        needed: true,
        accept: '.gz,.tgz,.tar',
      },
      { name: 'force', label: 'Allow an older version than the installed one', type: 'checkbox' },
    ]}
    act=${install}
  />`;
}
