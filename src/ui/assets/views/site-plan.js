import { Search } from '../ask.js';
import { html } from '../html.js';
import { Loaded, State } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { Table } from '../table.js';
import { count } from '../words.js';

/** The effect of a deployment of the newest revision on each node, with reasons; nothing is changed. */
export function SitePlan({ base, site, query: given }) {
  const strategy = useData(`${base}/revisions/latest/strategy`);
  const difference = useData(`${base}/revisions/latest/difference`);
  const machines = useData(`${base}/nodes/status`, { every: 30_000 });
  const text = given.get('node') ?? '';
  return html`<h2 id="plan">Deployment plan</h2>
    <${Loaded} from=${strategy}>
      ${({ order, groups, warnings }) => {
        const rows = rowsOf(order, groups, difference.data, machines.data);
        const counts = new Map();
        for (const { what } of rows) counts.set(what, (counts.get(what) ?? 0) + 1);
        return html`<p class="facts">
            Revision ${site.latest_revision}: ${[...counts].map(([what, n]) => `${count(n, 'node')} ${what}`).join(', ')}.
            ${(machines.problem || machines.data?.stale) && html`<span class="bad"> MAAS does not answer, so the state of machines is unknown: ${machines.problem?.detail ?? machines.data.reason}</span>`}
          </p>
          ${warnings.map((one) => html`<p class="banner">${one}</p>`)}
          <div class="filters"><${Search} label="Node or group" value=${text} onChange=${(value) => filterBy({ node: value })} /></div>
          <${Table}
            label="Plan"
            rows=${rows.filter((one) => `${one.node} ${one.group}`.includes(text))}
            keyOf=${(one) => one.node}
            empty="No nodes match."
            columns=${[
              ['Node', (one) => one.node, 'name'],
              [
                'Group',
                (one) => html`${one.at}. ${one.group} ${one.critical && html`<span class="tag">critical</span>`}`,
              ],
              ['Effect', (one) => html`<${State} of=${LOOK[one.what]}>${one.what}<//>`],
              ['Why', (one) => one.why, 'wide'],
            ]}
          />`;
      }}
    <//>`;
}

const LOOK = { deployed: 'running', unchanged: 'skipped', 'not decided': 'waiting', refused: 'failed' };
const SAID = { deploy: 'deployed', leave: 'unchanged', refuse: 'refused' };

/** By node, in the order of groups. */
function rowsOf(order, groups, difference, machines) {
  const named = new Map(groups.map((one) => [one.name, one]));
  const state = new Map((machines?.nodes ?? []).map((one) => [one.node, one]));
  const changed = new Map((difference?.nodes ?? []).map((one) => [one.name, one]));
  const seen = new Set();
  return order.flatMap((name, at) => {
    const { nodes, critical, depends_on: after } = named.get(name);
    return nodes
      .filter((node) => !seen.has(node) && seen.add(node))
      .map((node) => ({
        node,
        group: name,
        at: at + 1,
        critical,
        ...fateOf(state.get(node), changed.get(node), after),
      }));
  });
}

function fateOf(machine, change, after) {
  const order = after.length > 0 ? `; after ${after.join(', ')}` : '';
  const news =
    change === undefined
      ? ''
      : change.change === 'changed'
        ? `, changed: ${change.fields.join(', ')}`
        : ', new in the documents';
  const { does, why } = machine?.deployment ?? {};
  if (does === undefined) return { what: 'not decided', why: `the state of its machine is unknown${news}${order}` };
  const more = { deploy: `${news}${order}`, leave: news && `${news}; redeploy it to apply that`, refuse: '' };
  return { what: SAID[does], why: `${why}${more[does]}` };
}
