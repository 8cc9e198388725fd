import { html } from '../html.js';
import { Loaded, Table, Title } from '../parts.js';
import { listsChanged, useData } from '../store.js';
import { timeOf } from '../words.js';
import { NoRelease } from './clusters.js';

/** What is installed, and what each package brought. */
export function PackagesView() {
  const again = listsChanged.value;
  const packages = useData('/api/v1/packages', { again, every: 15_000 });
  const releases = useData('/api/v1/releases', { again, every: 15_000 });
  return html`<${Title} of="Packages" />
    ${releases.data?.length === 0 && html`<${NoRelease} />`}
    <${Loaded} from=${packages}>
      ${(all) =>
        html`<${Table}
          label="Packages"
          rows=${all}
          keyOf=${(one) => one.id}
          empty="No package is installed."
          columns=${[
            ['Package', (one) => html`<strong>${one.name}</strong> ${one.version}`],
            ['Kind', (one) => one.kind],
            ['Brought', (one) => html`<${Brought} of=${one} />`, 'wide'],
            ['Installed', (one) => timeOf(one.installed_at)],
            ['Size', (one) => `${Math.ceil(one.size / 1024).toLocaleString()} KB`],
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
          columns=${[
            ['Release', (one) => html`<strong>${one.name}</strong> ${one.version}`],
            ['State', (one) => one.state],
            ['System', (one) => one.operating_system],
            ['Roles', (one) => one.roles.join(', '), 'wide'],
            ['Tags', (one) => Object.keys(one.tags_metadata).join(', '), 'wide'],
          ]}
        />`}
    <//>`;
}

const Brought = ({ of }) =>
  [
    ...of.releases.map((one) => `release ${one.name} ${one.version}`),
    ...of.plugins.map((one) => `plugin ${one.name} ${one.version}`),
  ].join(', ');
