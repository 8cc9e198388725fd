import { html } from '../html.js';
import { Choice, Loaded, Table, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';

/** All graphs that are kept, by owner and type. */
export function GraphsView({ query }) {
  const graphs = useData('/api/v1/graphs', { again: listsChanged.value });
  const owners = useOwners();
  const type = query.get('type') ?? '';
  return html`<${Title} of="Graphs" />
    <${Loaded} from=${graphs}>
      ${(all) => {
        const types = [...new Set(all.flatMap((one) => one.relations.map((of) => of.type)))].sort();
        const rows = all.filter((one) => type === '' || one.relations.some((of) => of.type === type));
        return html`<div class="filters">
            <${Choice} label="Type" value=${type} options=${[['', 'all'], ...types.map((one) => [one, one])]} onChange=${(value) => filterBy({ type: value })} />
          </div>
          <${Table}
            label="Graphs"
            rows=${rows}
            keyOf=${(one) => one.id}
            empty=${html`No graph yet. Packages bring some; upload one with <code>sitewright graph upload</code>.`}
            columns=${[
              ['Graph', (one) => html`<a href=${`/graphs/${one.id}`}>${one.name || `graph ${one.id}`}</a>`],
              ['Type', (one) => one.relations.map((of) => of.type).join(', ')],
              ['Of', (one) => one.relations.map((of) => html`<${Owner} of=${of} names=${owners} />`)],
              ['Tasks', (one) => one.tasks.length],
              [
                '',
                (one) => html`<a href=${`/api/v1/graphs/${one.id}`} download=${`graph-${one.id}.json`}>Download</a>`,
                'actions',
              ],
            ]}
          />`;
      }}
    <//>`;
}

/** Names of what graphs and tags belong to, by `kind/id`. */
export function useOwners() {
  const [clusters, releases, plugins] = ['clusters', 'releases', 'plugins'].map((kind) =>
    useData(`/api/v1/${kind}`, { again: listsChanged.value }),
  );
  return new Map([
    ...(clusters.data ?? []).map((one) => [`cluster/${one.id}`, one.name]),
    ...(releases.data ?? []).map((one) => [`release/${one.id}`, `${one.name} ${one.version}`]),
    ...(plugins.data ?? []).map((one) => [`plugin/${one.id}`, `${one.title || one.name} ${one.version}`]),
  ]);
}

export const Owner = ({ of, names }) => {
  const text = `${of.model} ${names.get(`${of.model}/${of.model_id}`) ?? of.model_id}`;
  return of.model === 'cluster' ? html`<a href=${`/clusters/${of.model_id}`}>${text}</a>` : text;
};
