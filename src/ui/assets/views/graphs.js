import { Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Command, Empty, Loaded, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';

/** All graphs that are kept, by owner and type. */
export function GraphsView({ query }) {
  const graphs = useData('/api/v1/graphs', { again: listsChanged.value });
  const owners = useOwners();
  const [type, name] = ['type', 'name'].map((key) => query.get(key) ?? '');
  return html`<${Title} of="Graphs" />
    <${Loaded} from=${graphs}>
      ${(all) => {
        const types = [...new Set(all.flatMap((one) => one.relations.map((of) => of.type)))].sort();
        if (all.length === 0) return html`<${NoGraph} />`;
        const rows = all.filter(
          (one) =>
            (type === '' || one.relations.some((of) => of.type === type)) &&
            `${nameOf(one)} ${one.relations.map((of) => owners.get(`${of.model}/${of.model_id}`)).join(' ')}`.includes(
              name,
            ),
        );
        return html`<div class="filters" role="search" aria-label="Filter graphs">
            <${Search} label="Name or owner" value=${name} onChange=${(value) => filterBy({ name: value })} />
            <${Choice} label="Type" value=${type} options=${[['', 'all'], ...types.map((one) => [one, one])]} onChange=${(value) => filterBy({ type: value })} />
          </div>
          <${Table}
            label="Graphs"
            rows=${rows}
            keyOf=${(one) => one.id}
            empty="No graphs match."
            columns=${[
              ['Graph', (one) => html`<a href=${`/graphs/${one.id}`}>${nameOf(one)}</a>`, 'name'],
              ['Type', (one) => one.relations.map((of) => of.type).join(', ')],
              ['Owner', (one) => one.relations.map((of) => html`<${Owner} of=${of} names=${owners} />`)],
              ['Tasks', (one) => one.tasks.length, 'number'],
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

const NoGraph = () => html`<${Empty} title="No graphs yet.">
  <p>Releases contain graphs; install their <a href="/packages">packages</a>. To upload your own for a cluster:</p>
  <${Command} text="sitewright graph upload --env 1 --type default --file FILE" />
<//>`;

/** Name of a graph: many have only their type. */
export const nameOf = (graph) => graph.name || `${graph.relations[0]?.type ?? 'graph'} #${graph.id}`;

/** Names of owners of graphs and tags, by `kind/id`. */
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
