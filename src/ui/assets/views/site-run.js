import { post } from '../api.js';
import { html } from '../html.js';
import { Action, Choice, Loaded, Search, State, Table } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { count, lasting, said, timeOf } from '../words.js';
import { criteriaOf } from './site.js';
import { Timeline } from './timeline.js';

/** A run on a site: phases, groups as a tree, nodes with what befell them. */
export function SiteRun({ base, tables, query }) {
  const { run, status, nodes } = tables;
  const again = JSON.stringify([status.phase, status.done, status.counts, status.groups, status.current]);
  const report = useData(`${base}/report`, { again });
  const rows = Object.values(nodes);
  return html`${status.current && html`<${Current} current=${status.current} />`}
    <${NodeGrid} nodes=${rows} onChoose=${(name) => filterBy({ node: name, page: '' })} />
    <${Loaded} from=${report}>
      ${(data) => html`<${Phases} phases=${data.phases} />
        ${data.baremetal && html`<${GroupTree} groups=${data.baremetal.groups} live=${status.groups} query=${query} />`}`}
    <//>
    <${NodeTable} base=${base} rows=${rows} report=${report.data} query=${query} live=${run.outcome === null} />
    <${Timeline} rows=${rows.map(barOf)} until=${run.ended_at} from=${run.started_at} />`;
}

const barOf = (one) => ({
  row: one.node,
  label: `${said(one.step ?? '')} ${said(one.state)}`,
  status: one.ended_at === null && one.started_at !== null ? 'running' : one.state,
  from: one.started_at,
  to: one.ended_at,
});

const Current = ({ current }) => html`<p class="facts">
  Now: <strong>${current.call}</strong> of group <strong>${current.group}</strong>: ${count(current.running.length, 'node')} at
  work${current.waiting > 0 ? `, ${current.waiting} waiting` : ''}.
  ${current.running.length > 0 && html`<span class="quiet">Waiting for ${current.running.slice(0, 10).join(', ')}${current.running.length > 10 ? ' …' : ''}</span>`}
</p>`;

/** A small cell for each node: what a site of a thousand looks like at a glance. */
function NodeGrid({ nodes, onChoose }) {
  if (nodes.length === 0) return null;
  return html`<section aria-label="Nodes at a glance">
    <div class="grid">
      ${nodes.map(
        (one) => html`<button
          type="button"
          key=${one.node}
          class=${`cell ${lookOfNode(one)}`}
          title=${`${one.node}: ${said(one.state)}${one.reason ? `, ${one.reason}` : ''}`}
          aria-label=${`${one.node}: ${said(one.state)}`}
          onClick=${() => onChoose(one.node)}
        ></button>`,
      )}
    </div>
  </section>`;
}

const lookOfNode = (one) =>
  ({ success: 'ok', failure: 'bad', prepared: 'half' })[one.state] ??
  (one.started_at && !one.ended_at ? 'busy' : 'wait');

const Phases = ({ phases }) => html`<ol class="phases" aria-label="Phases">
  ${phases.map(
    (one) => html`<li key=${one.name} title=${one.detail}>
      <${State} of=${one.state}>${said(one.name)}<//>
      <span class="quiet">${lasting(one.started_at, one.ended_at)}</span>
    </li>`,
  )}
</ol>`;

/** Groups below those they wait for; each with its nodes by state and its criteria. */
function GroupTree({ groups, live, query }) {
  const stateOf = new Map(live.map((one) => [one.name, one]));
  const depth = new Map();
  const depthOf = (group) => {
    if (depth.has(group.name)) return depth.get(group.name);
    depth.set(group.name, 0);
    const before = group.depends_on.map((name) => groups.find((one) => one.name === name)).filter(Boolean);
    const own = before.length === 0 ? 0 : 1 + Math.max(...before.map(depthOf));
    depth.set(group.name, own);
    return own;
  };
  const chosen = query.get('group');
  return html`<h2>Deployment groups</h2>
    <ul class="tree" aria-label="Deployment groups">
      ${[...groups]
        .sort((a, b) => depthOf(a) - depthOf(b))
        .map((group) => {
          const now = stateOf.get(group.name) ?? group;
          const { counts } = group;
          return html`<li key=${group.name} class=${`depth-${Math.min(depthOf(group), 5)}`}>
            <div class="row">
              <button
                type="button"
                class="link"
                aria-pressed=${chosen === group.name}
                onClick=${() => filterBy({ group: chosen === group.name ? '' : group.name, page: '' })}
              >
                ${group.name}
              </button>
              <${State} of=${now.state} />
              ${group.critical && html`<span class="tag">critical</span>`}
              <span>${counts.success} of ${group.nodes.length} done${counts.failure > 0 ? `, ${counts.failure} failed` : ''}</span>
              ${group.depends_on.length > 0 && html`<span class="quiet">after ${group.depends_on.join(', ')}</span>`}
            </div>
            ${(now.reason ?? group.reason) && html`<p class="bad">${now.reason ?? group.reason}</p>`}
            ${
              group.criteria.length > 0 &&
              html`<ul class="criteria">
              ${group.criteria.map(
                (one) => html`<li class=${one.met ? 'ok' : 'bad'}>${one.met ? '✓' : '✗'} ${one.call}: ${one.text}</li>`,
              )}
            </ul>`
            }
            ${group.criteria.length === 0 && group.success_criteria && html`<p class="quiet">${criteriaOf(group.success_criteria)}</p>`}
          </li>`;
        })}
    </ul>`;
}

const PAGE = 100;
const RANK = { failure: 0, not_started: 2, prepared: 1, success: 3 };

function NodeTable({ base, rows, report, query, live }) {
  const hints = new Map((report?.baremetal?.nodes ?? []).map((one) => [one.name, one]));
  const [group, state, name] = ['group', 'state', 'node'].map((key) => query.get(key) ?? '');
  const wanted = rows
    .filter(
      (one) =>
        (group === '' || one.group === group || hints.get(one.node)?.group === group) &&
        (state === '' || one.state === state),
    )
    .filter((one) => one.node.includes(name))
    .sort((a, b) => (RANK[a.state] ?? 2) - (RANK[b.state] ?? 2) || (a.node < b.node ? -1 : 1));
  const page = Number(query.get('page') ?? 0);
  const shown = wanted.slice(page * PAGE, (page + 1) * PAGE);
  return html`<h2 id="nodes">Nodes</h2>
    <form class="filters" role="search" aria-label="Filter nodes" onSubmit=${(event) => event.preventDefault()}>
      <${Search} key=${name} label="Node" value=${name} onChange=${(text) => filterBy({ node: text, page: '' })} />
      <${Choice}
        label="State"
        value=${state}
        options=${[['', 'all'], ['failure', 'failed'], ['not_started', 'not started'], ['prepared', 'prepared'], ['success', 'success']]}
        onChange=${(value) => filterBy({ state: value, page: '' })}
      />
      ${group !== '' && html`<button type="button" onClick=${() => filterBy({ group: '', page: '' })}>All groups</button>`}
      <span class="quiet">${count(wanted.length, 'node')}</span>
    </form>
    <${Table}
      label="Nodes"
      rows=${shown}
      keyOf=${(one) => one.node}
      empty="No such node."
      columns=${[
        ['Node', (one) => one.node],
        ['State', (one) => html`<${State} of=${one.state} />`],
        ['Group', (one) => one.group ?? ''],
        ['Step', (one) => said(one.step ?? '')],
        ['Tries', (one) => one.attempts ?? ''],
        ['Took', (one) => html`<span title=${timeOf(one.started_at)}>${lasting(one.started_at, one.ended_at)}</span>`],
        [
          'Reason',
          (one) => html`${one.reason ?? ''} <span class="quiet">${hints.get(one.node)?.hint ?? ''}</span>`,
          'wide',
        ],
        [
          '',
          (one) =>
            live &&
            one.state === 'failure' &&
            html`<${Action}
              label="Retry"
              title=${`Retry ${one.node}`}
              explain="Tries the node again while its run goes on; its group is judged anew."
              act=${(given) => post(`${base}/nodes/${encodeURIComponent(one.node)}/retry`, given)}
              done=${`${one.node} is tried again.`}
            />`,
          'actions',
        ],
      ]}
    />
    ${
      wanted.length > PAGE &&
      html`<nav class="pages" aria-label="Pages">
      <button type="button" disabled=${page === 0} onClick=${() => filterBy({ page: page === 1 ? '' : page - 1 })}>Before</button>
      <span>${page * PAGE + 1}–${Math.min((page + 1) * PAGE, wanted.length)} of ${wanted.length}</span>
      <button type="button" disabled=${(page + 1) * PAGE >= wanted.length} onClick=${() => filterBy({ page: page + 1 })}>After</button>
    </nav>`
    }`;
}
