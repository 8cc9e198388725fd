import { query } from '../api.js';
import { Choice } from '../ask.js';
import { html } from '../html.js';
import { Empty, Loaded, Older, RunState, Table, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { count, lasting, said, timeOf } from '../words.js';

const KINDS = ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site', 'execute_graph'];
const OUTCOMES = ['success', 'success_with_failures', 'nothing_to_do', 'failed', 'stopped', 'cancelled', 'terminated'];
const FILTERS = ['site', 'kind', 'outcome', 'open', 'before'];

/** All runs: what is under way first, then the newest. Its filters are in the address. */
export function RunsView({ query: given }) {
  const filter = Object.fromEntries(FILTERS.map((key) => [key, given.get(key) ?? '']));
  const again = listsChanged.value;
  const first = filter.before === '' && filter.outcome === '' && filter.open !== 'false';
  const open = useData(first ? `/api/v1/runs${query({ ...filter, open: 'true', limit: 100 })}` : null, { again });
  const list = useData(
    filter.open === 'true' ? null : `/api/v1/runs${query({ ...filter, open: 'false', limit: 50 })}`,
    { again },
  );
  const sites = useData('/api/v1/sites');
  const choose = (field) => (value) => filterBy({ [field]: value, before: '' });
  const chosen = (all) => [['', 'all'], ...all.map((one) => [one, said(one)])];
  const isFiltered = FILTERS.some((key) => filter[key] !== '');
  const running = open.data?.items.length ?? 0;
  const none = isFiltered
    ? html`<${NoSuchRun} />`
    : running > 0
      ? html`<p class="quiet">None yet.</p>`
      : html`<${NoRun} />`;
  return html`<${Title} of="Runs" />
    <form class="filters" role="search" aria-label="Filter runs" onSubmit=${(event) => event.preventDefault()}>
      <${Choice} label="Site" value=${filter.site} options=${[['', 'all'], ...(sites.data?.items ?? []).map((one) => [one.name, one.name])]} onChange=${choose('site')} />
      <${Choice} label="Kind" value=${filter.kind} options=${chosen(KINDS)} onChange=${choose('kind')} />
      <${Choice} label="Outcome" value=${filter.outcome} options=${chosen(OUTCOMES)} onChange=${choose('outcome')} />
      <${Choice} label="State" value=${filter.open} options=${[['', 'all'], ['true', 'under way'], ['false', 'ended']]} onChange=${choose('open')} />
      ${isFiltered && html`<button type="button" onClick=${showAll}>Show all</button>`}
    </form>
    ${
      first &&
      html`<${Loaded} from=${open}>
      ${({ items }) =>
        (items.length > 0 || filter.open === 'true') &&
        html`<section aria-label="Under way"><h2>Under way</h2>
          <${RunTable} runs=${worstFirst(items)} empty=${isFiltered ? html`<${NoSuchRun} />` : undefined} /></section>`}
    <//>`
    }
    ${
      filter.open !== 'true' &&
      html`<section aria-label="Ended"><h2>Ended</h2>
      <${Loaded} from=${list}>
        ${({ items, next }) =>
          html`<${RunTable} runs=${items} empty=${none} />
            <${Older} before=${filter.before} next=${next} />`}
      <//>
    </section>`
    }`;
}

const showAll = () => filterBy(Object.fromEntries(FILTERS.map((key) => [key, ''])));

const NoSuchRun = () => html`<${Empty} title="No such run.">
  <p>Choose less above, or <button type="button" class="link" onClick=${showAll}>show all runs</button>.</p>
<//>`;

const NoRun = () => html`<${Empty} title="Nothing has run yet.">
  <p>Deploy a <a href="/sites">site</a>, or run a graph on a <a href="/clusters">cluster</a>: it is shown here, live.</p>
<//>`;

const worstFirst = (runs) => [...runs].sort((a, b) => (b.failed_nodes ?? 0) - (a.failed_nodes ?? 0));

export const RunTable = ({ runs, empty = 'No run yet.' }) =>
  html`<${Table}
    label="Runs"
    rows=${runs}
    keyOf=${(run) => run.id}
    empty=${empty}
    columns=${[
      [
        'Run',
        (run) => html`<a href=${`/runs/${run.id}`}>${run.title ?? `${said(run.kind)} ${subjectOf(run)}`}</a>`,
        'name',
      ],
      ['State', (run) => html`<${RunState} run=${run} />`],
      [
        'Failed',
        (run) => (run.failed_nodes ? html`<span class="bad">${count(run.failed_nodes, 'node')}</span>` : ''),
        'number',
      ],
      ['Started', (run) => timeOf(run.started_at), 'number'],
      ['Took', (run) => lasting(run.started_at, run.ended_at), 'number'],
      ['By', (run) => run.started_by ?? ''],
      ['Why', (run) => run.reason ?? '', 'wide'],
    ]}
  />`;

/** What a run works on. */
export const subjectOf = (run) =>
  run.site ?? (run.labels.cluster === undefined ? '' : `on cluster ${run.labels.cluster}`);
