import { send } from '../api.js';
import { Action } from '../ask.js';
import { html } from '../html.js';
import { Loaded, Missing, State, Title } from '../parts.js';
import { go } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago } from '../times.js';
import { webLink } from '../web-link.js';
import { nameOf } from './graphs.js';
import { sizeOf } from './packages.js';

const LIST = ['/packages', 'Packages'];

/** One package with all its parts. */
export function PackageView({ id }) {
  const path = `/api/v1/packages/${id}`;
  const found = useData(path, { again: listsChanged.value });
  const remove = async () => {
    await send('DELETE', path);
    go('/packages');
  };
  if (found.data === undefined && found.problem !== undefined)
    return html`<${Missing} of=${`Package ${id}`} problem=${found.problem} list=${LIST} onRetry=${found.reload} />`;
  return html`<${Loaded} from=${found}>
    ${(one) => html`<${Title}
        of=${`${one.name} ${one.version}`}
        trail=${[LIST]}
        actions=${html`<a class="button" href=${`${path}/archive`} download>Download</a>
          <${Action}
            label="Remove"
            title=${`Remove ${one.name}`}
            explain="Also removes its releases and plugins. Refused while a cluster uses them."
            needs="admin"
            reason=${false}
            act=${remove}
            done=${`${one.name} removed.`}
            danger
          />`}
      />
      <dl class="details">
        <dt>Kind</dt><dd>${one.kind}</dd>
        <dt>Format</dt><dd>${one.package_version}</dd>
        <dt>Installed</dt><dd><${Ago} of=${one.installed_at} />${one.updated_at !== one.installed_at && html`, updated to this version <${Ago} of=${one.updated_at} />`}</dd>
        <dt>Archive</dt><dd>${sizeOf(one)}, SHA-256 <code>${one.checksum}</code></dd>
      </dl>
      ${one.releases.map((release) => html`<${Release} key=${release.id} id=${release.id} />`)}
      ${one.plugins.map((plugin) => html`<${Plugin} key=${plugin.id} id=${plugin.id} />`)}`}
  <//>`;
}

function Release({ id }) {
  const release = useData(`/api/v1/releases/${id}`);
  return html`<${Loaded} from=${release}>
    ${(one) => html`<h2>Release ${one.name} ${one.version} <${State} of=${one.state} /></h2>
      <p class="facts">${one.description} ${one.operating_system && `For ${one.operating_system}.`}</p>
      <${Table}
        label=${`Roles of ${one.name}`}
        rows=${one.roles}
        keyOf=${(role) => role}
        empty="No roles."
        columns=${[
          ['Role', (role) => role, 'name'],
          ['Description', (role) => one.roles_metadata[role]?.description ?? '', 'wide'],
          [
            'Tags',
            (role) => (one.roles_metadata[role]?.tags ?? []).map((tag) => html`<span class="tag">${tag}</span>`),
            'wide',
          ],
        ]}
      />
      <${Graphs} of=${`/api/v1/releases/${id}/deployment_graphs`} />
      <p class="quiet"><a href=${`/tags?owner=release/${id}`}>Its tags</a></p>`}
  <//>`;
}

function Plugin({ id }) {
  const plugin = useData(`/api/v1/plugins/${id}`);
  return html`<${Loaded} from=${plugin}>
    ${(one) => html`<h2>Plugin ${one.title || one.name} ${one.version}</h2>
      <p class="facts">
        ${one.description} ${one.licenses?.length > 0 ? `Licence: ${one.licenses.join(', ')}.` : ''}
        ${webLink(one.homepage) && html` <a href=${webLink(one.homepage)} target="_blank" rel="noreferrer">Its home page</a>`}
      </p>
      <${Table}
        label="Tags"
        rows=${Object.entries(one.tags_metadata)}
        keyOf=${([tag]) => tag}
        empty="No tags."
        columns=${[
          ['Tag', ([tag]) => html`<span class="tag">${tag}</span>`, 'name'],
          ['Has a primary node', ([, meta]) => (meta?.has_primary ? 'yes' : 'no')],
        ]}
      />
      <${Graphs} of=${`/api/v1/plugins/${id}/deployment_graphs`} />`}
  <//>`;
}

function Graphs({ of }) {
  const graphs = useData(of);
  return html`<${Loaded} from=${graphs}>
    ${(all) =>
      html`<${Table}
        label="Graphs"
        rows=${all}
        keyOf=${(one) => one.id}
        empty="No graphs."
        columns=${[
          ['Graph', (one) => html`<a href=${`/graphs/${one.id}`}>${nameOf(one)}</a>`, 'name'],
          ['Type', (one) => one.relations.map(({ type }) => type).join(', ')],
          ['Tasks', (one) => one.tasks.length, 'number'],
        ]}
      />`}
  <//>`;
}
