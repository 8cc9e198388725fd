import { query as queryOf } from '../api.js';
import { Search } from '../ask.js';
import { html } from '../html.js';
import { Empty, Loaded, Older, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago } from '../times.js';

/** Pages of the targets of audit entries. */
const PAGES = { run: 'runs', site: 'sites', cluster: 'clusters', node: 'nodes', package: 'packages', graph: 'graphs' };

/** The audit trail. Its filters are in the address. */
export function AuditView({ query }) {
  const [actor, action, target, before] = ['actor', 'action', 'target', 'before'].map((key) => query.get(key) ?? '');
  const entries = useData(`/api/v1/audit${queryOf({ actor, action, target, before, limit: 100 })}`, {
    again: before === '' ? listsChanged.value : undefined,
  });
  const choose = (field) => (value) => filterBy({ [field]: value, before: '' });
  const isFiltered = actor !== '' || action !== '' || target !== '';
  return html`<${Title} of="Audit" />
    <form class="filters" role="search" aria-label="Filter the audit" onSubmit=${(event) => event.preventDefault()}>
      <${Search} label="Actor" value=${actor} onChange=${choose('actor')} />
      <${Search} label="Action" value=${action} placeholder="run.pause" onChange=${choose('action')} />
      <${Search} label="Target" value=${target} placeholder="site/dc1" onChange=${choose('target')} />
      ${isFiltered && html`<button type="button" onClick=${() => filterBy({ actor: '', action: '', target: '', before: '' })}>Show all</button>`}
    </form>
    <${Loaded} from=${entries}>
      ${({ items, next }) =>
        html`<${Table}
            label="Audit"
            rows=${items}
            keyOf=${(one) => one.id}
            empty=${isFiltered ? 'No entries match. Filters match whole names only.' : html`<${Empty} title="No entries yet." />`}
            columns=${[
              ['At', (one) => html`<${Ago} of=${one.at} />`, 'number'],
              ['Actor', (one) => one.actor],
              ['Action', (one) => one.action],
              ['Target', (one) => html`<${Target} of=${one.target} />`, 'wide'],
              ['Why', (one) => one.reason ?? '', 'wide'],
            ]}
          />
          <${Older} before=${before} next=${next} />`}
    <//>`;
}

function Target({ of }) {
  const [kind, id] = of.split('/');
  if (PAGES[kind] === undefined || id === undefined) return of;
  return html`<a href=${`/${PAGES[kind]}/${encodeURIComponent(id)}`}>${of}</a>`;
}
