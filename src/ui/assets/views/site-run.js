import { post } from '../api.js';
import { Action, Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Cells, Loaded, Progress, State, Tabs } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { Chosen, forEach, Table, useSelection } from '../table.js';
import { Lasting } from '../times.js';
import { count, reasonOf, said, some } from '../words.js';
import { Commit } from './revisions.js';
import { Timeline } from './timeline.js';

const VIEWS = [
  ['nodes', 'Nodes'],
  ['timeline', 'Timeline'],
];

/** A run on a site: phases, groups as a tree, nodes with their results or times. */
export function SiteRun({ base, tables, query }) {
  const { run, status, nodes } = tables;
  const again = JSON.stringify([
    status.phase,
    status.done,
    status.counts,
    status.groups,
    status.current,
    status.awaiting_approval,
  ]);
  const report = useData(`${base}/report`, { again });
  const rows = Object.values(nodes);
  const view = query.get('view') === 'timeline' ? 'timeline' : 'nodes';
  return html`${status.current && html`<${Current} current=${status.current} />`}
    <${NodeCells} nodes=${rows} chosen=${query.get('node') ?? ''} />
    <${Loaded} from=${report}>
      ${(
        data,
      ) => html`${data.commit && html`<p class="facts">Commit <${Commit} id=${data.commit} url=${data.commit_url} /></p>`}
        <${Phases} phases=${data.phases} />
        ${data.baremetal && html`<${GroupTree} groups=${data.baremetal.groups} live=${status.groups} query=${query} />`}`}
    <//>
    <${Tabs} views=${VIEWS} current=${view} />
    ${
      view === 'nodes'
        ? html`<${NodeTable} base=${base} rows=${rows} query=${query} live=${run.outcome === null} />`
        : html`<${Timeline} rows=${rows.map(barOf)} until=${run.ended_at} from=${run.started_at} />`
    }`;
}

/** The current step, or the one that failed. */
const stepOf = (one) => one.running ?? one.failed_in;

const barOf = (one) => ({
  row: one.name,
  label: `${said(stepOf(one) ?? '')} ${said(one.state)}`,
  status: one.running === undefined ? one.state : 'running',
  from: one.started_at,
  to: one.ended_at,
});

const Current = ({ current }) => html`<p class="facts">
  Now: <strong>${current.call}</strong> of group <strong>${current.group}</strong>: ${count(current.running.length, 'node')} running${
    current.waiting > 0 ? `, ${current.waiting} waiting` : ''
  }.
  ${current.running.length > 0 && html`<span class="quiet">Waiting for ${some(current.running)}.</span>`}
</p>`;

/** A cell for each node. */
function NodeCells({ nodes, chosen }) {
  const failed = nodes.filter(({ state }) => state === 'failed').length;
  const cells = nodes.map((one) => ({
    key: one.name,
    name: one.name,
    look: lookOfNode(one),
    note: said(one.state),
    text: `${one.name}: ${said(one.state)}${reasonOf(one) && `, ${reasonOf(one)}`}`,
  }));
  const choose = ({ key }) => filterBy({ node: chosen === key ? '' : key, page: '', view: '' });
  return html`<p class="facts">${count(cells.length, 'node')}${failed > 0 ? html`, <span class="bad">${failed} failed</span>` : ''}</p>
    <${Cells} label="Nodes at a glance" cells=${cells} chosen=${chosen} onChoose=${choose} />`;
}

const lookOfNode = (one) =>
  ({ success: 'ok', failed: 'bad', prepared: 'half' })[one.state] ??
  (one.started_at && !one.ended_at ? 'busy' : 'wait');

const Phases = ({ phases }) => html`<ol class="phases" aria-label="Phases">
  ${phases.map(
    (one) => html`<li key=${one.name} title=${one.detail}>
      <${State} of=${one.state}>${said(one.name)}<//>
      <span class="quiet"><${Lasting} from=${one.started_at} to=${one.ended_at} /></span>
    </li>`,
  )}
</ol>`;

/**
 * Groups below the one they wait for last; others that they wait for are named. Each with its nodes by state and its
 * criteria.
 */
function GroupTree({ groups, live, query }) {
  const now = new Map(live.map((one) => [one.name, one]));
  const tree = treeOf(groups);
  const chosen = query.get('group');
  const choose = (name) => filterBy({ group: chosen === name ? '' : name, page: '', view: '' });
  const branch = (above) => {
    const own = tree.get(above) ?? [];
    return (
      own.length > 0 &&
      html`<ul class="tree">
        ${own.map(
          (group) => html`<li key=${group.name}>
            <${Group} group=${group} now=${now.get(group.name) ?? group} above=${above} chosen=${chosen} onChoose=${choose} />
            ${branch(group.name)}
          </li>`,
        )}
      </ul>`
    );
  };
  return html`<h2>Deployment groups</h2>
    <div class="groups" role="group" aria-label="Deployment groups">${branch('')}</div>`;
}

function Group({ group, now, above, chosen, onChoose }) {
  const { counts } = group;
  const others = group.depends_on.filter((name) => name !== above);
  const reason = now.reason ?? group.reason;
  return html`<div class="row">
      <button type="button" class="link" aria-pressed=${chosen === group.name} onClick=${() => onChoose(group.name)}>
        ${group.name}
      </button>
      <${State} of=${now.state} />
      ${group.critical && html`<span class="tag">critical</span>`}
      <${Progress} small done=${counts.success + counts.failed} total=${group.nodes.length} bad=${counts.failed} />
      ${others.length > 0 && html`<span class="quiet">also after ${others.join(', ')}</span>`}
    </div>
    ${reason && html`<p class="bad">${reason}</p>`}
    ${
      group.criteria.length > 0 &&
      html`<ul class="criteria">
      ${group.criteria.map(
        (one) => html`<li class=${one.met ? 'ok' : 'bad'}>
          <span aria-hidden="true">${one.met ? '✓' : '✗'}</span> ${one.call}: ${one.text}${one.met ? '' : ' (not met)'}
        </li>`,
      )}
    </ul>`
    }`;
}

/** Groups by the one above them, '' for those that wait for none: of all that one waits for the deepest. */
function treeOf(groups) {
  const known = new Map(groups.map((one) => [one.name, one]));
  const depths = new Map();
  const above = (group) => group.depends_on.filter((name) => known.has(name));
  const depthOf = (name) => {
    if (depths.has(name)) return depths.get(name);
    depths.set(name, 0);
    const own = Math.max(-1, ...above(known.get(name)).map(depthOf)) + 1;
    depths.set(name, own);
    return own;
  };
  const tree = new Map();
  for (const group of groups) {
    const [deepest = ''] = above(group).sort((a, b) => depthOf(b) - depthOf(a));
    tree.set(deepest, [...(tree.get(deepest) ?? []), group]);
  }
  return tree;
}

const RANK = { failed: 0, prepared: 1, waiting: 2, not_reached: 3, success: 4 };

function NodeTable({ base, rows, query, live }) {
  const [group, state, name] = ['group', 'state', 'node'].map((key) => query.get(key) ?? '');
  const wanted = rows
    .filter((one) => (group === '' || one.group === group) && (state === '' || one.state === state))
    .filter((one) => one.name.includes(name))
    .sort((a, b) => (RANK[a.state] ?? 2) - (RANK[b.state] ?? 2) || (a.node < b.node ? -1 : 1));
  const selection = useSelection(wanted, {
    keyOf: (one) => one.name,
    isChoosable: (one) => live && one.state === 'failed',
  });
  const retry = async (given) => {
    await forEach(
      selection.rows,
      (one) => one.name,
      (one) => post(`${base}/nodes/${encodeURIComponent(one.name)}/retry`, given),
    );
    selection.clear();
  };
  return html`<form class="filters" role="search" aria-label="Filter nodes" onSubmit=${(event) => event.preventDefault()}>
      <${Search} label="Node" value=${name} onChange=${(text) => filterBy({ node: text, page: '' })} />
      <${Choice}
        label="State"
        value=${state}
        options=${[['', 'all'], ['failed', 'failed'], ['waiting', 'waiting'], ['not_reached', 'not reached'], ['prepared', 'prepared'], ['success', 'success']]}
        onChange=${(value) => filterBy({ state: value, page: '' })}
      />
      ${group !== '' && html`<span class="tag">group ${group}</span>`}
      ${(group || state || name) && html`<button type="button" onClick=${() => filterBy({ group: '', state: '', node: '', page: '' })}>Show all</button>`}
      <span class="quiet">${count(wanted.length, 'node')}</span>
    </form>
    <${Chosen} selection=${selection} what=${selection.rows.length === 1 ? 'node' : 'nodes'}>
      <${Action} label="Retry selected" explain="Retries these nodes while the run continues; their groups are evaluated again." act=${retry} done="Retrying the nodes." />
    <//>
    <${Table}
      label="Nodes"
      selection=${live && wanted.some((one) => one.state === 'failed') ? selection : undefined}
      rows=${wanted}
      keyOf=${(one) => one.name}
      empty="No nodes match."
      columns=${[
        ['Node', (one) => one.name, 'name'],
        ['State', (one) => html`<${State} of=${one.state} />`],
        ['Group', (one) => one.group ?? ''],
        ['Step', (one) => said(stepOf(one) ?? '')],
        ['Tries', (one) => one.attempts ?? '', 'number'],
        ['Took', (one) => html`<${Lasting} from=${one.started_at} to=${one.ended_at} />`, 'number'],
        ['Reason', (one) => html`${reasonOf(one)} <span class="quiet">${one.hint ?? ''}</span>`, 'wide'],
        [
          '',
          (one) =>
            live &&
            one.state === 'failed' &&
            html`<${Action}
              label="Retry"
              title=${`Retry ${one.name}`}
              explain="Retries the node while its run continues; its group is evaluated again."
              act=${(given) => post(`${base}/nodes/${encodeURIComponent(one.name)}/retry`, given)}
              done=${`Retrying ${one.name}.`}
            />`,
          'actions',
        ],
      ]}
    />
`;
}
