import { query } from '../api.js';
import { html } from '../html.js';
import { Choice, Loaded, State, Table, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { count, lasting, said, stateOf, timeOf } from '../words.js';

const KINDS = ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site', 'execute_graph'];
const OUTCOMES = ['success', 'success_with_failures', 'failed', 'stopped', 'cancelled', 'terminated'];

/** All runs: what is under way first, then the newest. Its filters are in the address. */
export function RunsView({ query: given }) {
  const filter = Object.fromEntries(
    ['site', 'kind', 'outcome', 'open', 'before'].map((key) => [key, given.get(key) ?? '']),
  );
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
  return html`<${Title} of="Runs" />
    <form class="filters" role="search" aria-label="Filter runs" onSubmit=${(event) => event.preventDefault()}>
      <${Choice} label="Site" value=${filter.site} options=${[['', 'all'], ...(sites.data?.items ?? []).map((one) => [one.name, one.name])]} onChange=${choose('site')} />
      <${Choice} label="Kind" value=${filter.kind} options=${chosen(KINDS)} onChange=${choose('kind')} />
      <${Choice} label="Outcome" value=${filter.outcome} options=${chosen(OUTCOMES)} onChange=${choose('outcome')} />
      <${Choice} label="State" value=${filter.open} options=${[['', 'all'], ['true', 'under way'], ['false', 'ended']]} onChange=${choose('open')} />
    </form>
    ${
      first &&
      html`<${Loaded} from=${open}>
      ${({ items }) =>
        (items.length > 0 || filter.open === 'true') &&
        html`<section aria-label="Under way"><h2>Under way</h2><${RunTable} runs=${worstFirst(items)} /></section>`}
    <//>`
    }
    ${
      filter.open !== 'true' &&
      html`<section aria-label="Ended"><h2>Ended</h2>
      <${Loaded} from=${list}>
        ${({ items, next }) =>
          html`<${RunTable} runs=${items} />
            <nav class="pages" aria-label="Pages">
              ${filter.before !== '' && html`<button type="button" onClick=${() => filterBy({ before: '' })}>Newest</button>`}
              ${next !== null && html`<button type="button" onClick=${() => filterBy({ before: next })}>Older</button>`}
            </nav>`}
      <//>
    </section>`
    }`;
}

const worstFirst = (runs) => [...runs].sort((a, b) => (b.failed_nodes ?? 0) - (a.failed_nodes ?? 0));

export const RunTable = ({ runs }) =>
  html`<${Table}
    label="Runs"
    rows=${runs}
    keyOf=${(run) => run.id}
    empty="No such run."
    columns=${[
      ['Run', (run) => html`<a href=${`/runs/${run.id}`}>${run.title ?? `${said(run.kind)} ${subjectOf(run)}`}</a>`],
      ['State', (run) => html`<${State} of=${stateOf(run)} />`],
      ['Failed', (run) => (run.failed_nodes ? html`<span class="bad">${count(run.failed_nodes, 'node')}</span>` : '')],
      ['Started', (run) => timeOf(run.started_at)],
      ['Took', (run) => lasting(run.started_at, run.ended_at)],
      ['By', (run) => run.started_by ?? ''],
      ['Why', (run) => run.reason ?? ''],
    ]}
  />`;

/** What a run works on. */
export const subjectOf = (run) =>
  run.site ?? (run.labels.cluster === undefined ? '' : `on cluster ${run.labels.cluster}`);
