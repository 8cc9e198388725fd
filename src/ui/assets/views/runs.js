import { query } from '../api.js';
import { Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { useClusterNames } from '../names.js';
import { Empty, Loaded, Older, Progress, RunState, Title } from '../parts.js';
import { filterBy, go } from '../router.js';
import { SavedViews } from '../saved-views.js';
import { listsChanged, useData } from '../store.js';
import { Chosen, Table, useSelection } from '../table.js';
import { Ago, Lasting } from '../times.js';
import { said } from '../words.js';

const KINDS = ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site', 'execute_graph'];
const OUTCOMES = ['success', 'success_with_failures', 'nothing_to_do', 'failed', 'stopped', 'cancelled', 'terminated'];
const FILTERS = ['text', 'site', 'cluster', 'kind', 'outcome', 'open', 'by', 'since', 'until', 'label'];

/** The filters of the address as the API's parameters. Days are those of this browser. */
export function requestOf({ cluster, label, by, since, until, ...same }) {
  const labels = [cluster && `cluster:${cluster}`, label?.replace('=', ':')].filter(Boolean);
  const midnight = (day, later = 0) => {
    const [year, month, date] = day.split('-').map(Number);
    return new Date(year, month - 1, date + later).toISOString();
  };
  return {
    ...same,
    ...(by && { started_by: by }),
    ...(since && { since: midnight(since) }),
    ...(until && { until: midnight(until, 1) }),
    ...(labels.length > 0 && { label: labels }),
  };
}

/** All runs: open ones first, then the newest. Its filters are in the address. */
export function RunsView({ query: given }) {
  const filter = Object.fromEntries(FILTERS.map((key) => [key, given.get(key) ?? '']));
  const before = given.get('before') ?? '';
  const asked = requestOf(filter);
  const again = listsChanged.value;
  const first = before === '' && filter.outcome === '' && filter.open !== 'false';
  const open = useData(first ? `/api/v1/runs${query({ ...asked, open: 'true', limit: 100 })}` : null, { again });
  const list = useData(
    filter.open === 'true' ? null : `/api/v1/runs${query({ ...asked, before, open: 'false', limit: 50 })}`,
    { again },
  );
  const isFiltered = FILTERS.some((key) => filter[key] !== '');
  const selection = useSelection([...(open.data?.items ?? []), ...(list.data?.items ?? [])], {
    keyOf: (run) => run.id,
    nameOf: numberedName,
  });
  const [one, other] = selection.rows;
  const running = open.data?.items.length ?? 0;
  const none = isFiltered
    ? html`<${NoSuchRun} />`
    : running > 0
      ? html`<p class="quiet">None yet.</p>`
      : html`<${NoRun} />`;
  return html`<${Title} of="Runs" />
    <${Filters} filter=${filter} isFiltered=${isFiltered} />
    <${SavedViews} of="runs" fields=${FILTERS} />
    <${Chosen} selection=${selection} what=${selection.rows.length === 1 ? 'run' : 'runs'}>
      <button
        type="button"
        disabled=${selection.rows.length !== 2}
        title=${selection.rows.length === 2 ? undefined : 'Select two runs.'}
        onClick=${() => go(`/compare${query({ a: other.id, b: one.id })}`)}
      >
        Compare
      </button>
    <//>
    ${
      first &&
      html`<${Loaded} from=${open}>
      ${({ items }) =>
        (items.length > 0 || filter.open === 'true') &&
        html`<section aria-label="Under way"><h2>Under way</h2>
          <${RunTable} runs=${worstFirst(items)} selection=${selection} empty=${isFiltered ? html`<${NoSuchRun} />` : undefined} /></section>`}
    <//>`
    }
    ${
      filter.open !== 'true' &&
      html`<section aria-label="Ended"><h2>Ended</h2>
      <${Loaded} from=${list}>
        ${({ items, next }) =>
          html`<${RunTable} runs=${items} selection=${selection} empty=${none} />
            <${Older} before=${before} next=${next} />`}
      <//>
    </section>`
    }`;
}

function Filters({ filter, isFiltered }) {
  const sites = useData('/api/v1/sites');
  const clusters = useClusterNames();
  const choose = (field) => (value) => filterBy({ [field]: value, before: '' });
  const chosen = (all) => [['', 'all'], ...all.map((one) => [one, said(one)])];
  const day = (field, label) => html`<label class="field"
    ><span>${label}</span><input type="date" value=${filter[field]} onChange=${(event) => choose(field)(event.target.value)} /></label
  >`;
  return html`<form class="filters" role="search" aria-label="Filter runs" onSubmit=${(event) => event.preventDefault()}>
      <${Search} label="Search" value=${filter.text} placeholder="title, reason, failure …" onChange=${choose('text')} />
      <${Choice} label="Site" value=${filter.site} options=${[['', 'all'], ...(sites.data?.items ?? []).map((one) => [one.name, one.name])]} onChange=${choose('site')} />
      <${Choice} label="Cluster" value=${filter.cluster} options=${[['', 'all'], ...[...clusters].map(([id, name]) => [String(id), name])]} onChange=${choose('cluster')} />
      <${Choice} label="Kind" value=${filter.kind} options=${chosen(KINDS)} onChange=${choose('kind')} />
      <${Choice} label="Outcome" value=${filter.outcome} options=${chosen(OUTCOMES)} onChange=${choose('outcome')} />
      <${Choice} label="State" value=${filter.open} options=${[['', 'all'], ['true', 'under way'], ['false', 'ended']]} onChange=${choose('open')} />
      <${Search} label="By" value=${filter.by} placeholder="full name" onChange=${choose('by')} />
      ${day('since', 'From')} ${day('until', 'To')}
      <${Search} label="Label" value=${filter.label} placeholder="name=value" onChange=${choose('label')} />
      ${isFiltered && html`<button type="button" onClick=${showAll}>Show all</button>`}
    </form>`;
}

const showAll = () => filterBy(Object.fromEntries([...FILTERS, 'before'].map((key) => [key, ''])));

const NoSuchRun = () => html`<${Empty} title="No runs match.">
  <p>Remove a filter above, or <button type="button" class="link" onClick=${showAll}>show all runs</button>.</p>
<//>`;

const NoRun = () => html`<${Empty} title="Nothing has run yet.">
  <p>Deploy a <a href="/sites">site</a>, or run a graph on a <a href="/clusters">cluster</a>: its progress is shown here.</p>
<//>`;

const worstFirst = (runs) => [...runs].sort((a, b) => Number(b.failure !== null) - Number(a.failure !== null));

export const RunTable = ({ runs, selection, empty = 'No runs yet.' }) => {
  const clusters = useClusterNames();
  return html`<${Table}
    label="Runs"
    rows=${runs}
    keyOf=${(run) => run.id}
    empty=${empty}
    selection=${selection}
    columns=${[
      ['#', (run) => run.number ?? '', 'number'],
      ['Run', (run) => html`<a href=${`/runs/${run.id}`}>${nameOfRun(run, clusters)}</a>`, 'name'],
      ['State', (run) => html`<${RunState} run=${run} />`],
      ['Progress', (run) => html`<${HowFar} run=${run} />`, 'far'],
      ['Started', (run) => html`<${Ago} of=${run.started_at} />`, 'number'],
      ['Took', (run) => html`<${Lasting} from=${run.started_at} to=${run.ended_at} />`, 'number'],
      ['By', (run) => run.started_by ?? ''],
      ['Why', (run) => run.reason ?? '', 'wide'],
    ]}
  />`;
};

/** Its progress and failures. */
function HowFar({ run }) {
  const [what, bad] = run.kind === 'execute_graph' ? ['tasks', run.failed_tasks] : ['nodes', run.failed_nodes];
  return html`${
    run.total !== null && html`<${Progress} small done=${run.done} total=${run.total} what=${what} bad=${bad ?? 0} />`
  }
  ${run.failure && run.outcome !== 'success' && html`<p class="bad" title=${run.failure}>${short(run.failure)}</p>`}`;
}

const MAX = 140;
const short = (text) => (text.length > MAX ? `${text.slice(0, MAX - 1)}…` : text);

/** The target of a run, by name if known. */
export const subjectOf = (run, clusters = new Map()) => {
  const { cluster } = run.labels;
  return run.site ?? (cluster === undefined ? '' : `on cluster ${clusters.get(Number(cluster)) ?? cluster}`);
};

export const nameOfRun = (run, clusters) => run.title ?? `${said(run.kind)} ${subjectOf(run, clusters)}`;

const numberedName = (run) => `run ${run.number ?? run.id}`;
