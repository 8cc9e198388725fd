import { useEffect, useState } from 'preact/hooks';
import { get, query as queryOf } from '../api.js';
import { Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { useClusterNames, useNodeNames } from '../names.js';
import { Loaded, Problem, RunState, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { problemOf, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago, Lasting } from '../times.js';
import { count, lasting, reasonOf, said } from '../words.js';
import { nameOfRun } from './runs.js';

const LIST = ['/runs', 'Runs'];
const SHOWN = [
  ['differing', 'differences'],
  ['outcome', 'different outcome'],
  ['one', 'in one run only'],
  ['slower', 'at least 50 % slower'],
  ['all', 'all'],
];

/** Two runs side by side: plan, result and duration. */
export function CompareView({ query }) {
  const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
  const [first, second] = [useRun(a), useRun(b)];
  const clusters = useClusterNames();
  const names = useNodeNames(second.run.data?.labels.cluster);
  const problem = first.run.problem ?? second.run.problem ?? first.problem ?? second.problem;
  return html`<${Title} of="Compare two runs" trail=${[LIST]} actions=${html`<button type="button" onClick=${() => filterBy({ a: b, b: a })}>Swap</button>`} />
    ${(a === '' || b === '') && html`<p>Select two runs in the list of <a href="/runs">runs</a>, then choose <em>Compare</em>.</p>`}
    <${Problem} of=${problem} />
    <${Loaded} from=${first.run}>
      ${(one) => html`<${Loaded} from=${second.run}>${(other) => html`<${Heads} runs=${[one, other]} clusters=${clusters} />`}<//>`}
    <//>
    ${first.rows && second.rows && html`<${Rows} first=${first.rows} second=${second.rows} names=${names} query=${query} />`}`;
}

const Heads = ({ runs, clusters }) => html`<${Table}
  label="Runs"
  rows=${runs}
  keyOf=${(run) => run.id}
  columns=${[
    ['#', (run) => run.number ?? '', 'number'],
    ['Run', (run) => html`<a href=${`/runs/${run.id}`}>${nameOfRun(run, clusters)}</a>`, 'name'],
    ['State', (run) => html`<${RunState} run=${run} />`],
    ['Revision', (run) => run.revision ?? ''],
    ['Started', (run) => html`<${Ago} of=${run.started_at} />`],
    ['Took', (run) => html`<${Lasting} from=${run.started_at} to=${run.ended_at} />`],
    ['Why', (run) => run.reason ?? '', 'wide'],
    ['Failure', (run) => run.failure ?? '', 'wide'],
  ]}
/>`;

function Rows({ first, second, names, query }) {
  const [shown, text] = [query.get('show') ?? 'differing', query.get('text') ?? ''];
  const keys = [...new Set([...first.keys(), ...second.keys()])];
  const all = keys.map((key) => pairOf(key, first.get(key), second.get(key), names));
  const counts = (is) => all.filter(is).length;
  const rows = all.filter((one) => IS[shown](one) && one.name.toLowerCase().includes(text.toLowerCase()));
  const state = (one) =>
    one === undefined
      ? html`<span class="quiet">not planned</span>`
      : html`<span title=${one.message}>${said(one.status)}</span>`;
  return html`<p class="facts">
      ${count(all.length, 'entry', 'entries')}: ${counts(IS.outcome)} with different outcomes, ${counts((one) => one.first === undefined)} only in
      the second, ${counts((one) => one.second === undefined)} only in the first.
    </p>
    <form class="filters" role="search" aria-label="Filter the comparison" onSubmit=${(event) => event.preventDefault()}>
      <${Choice} label="Show" value=${shown} options=${SHOWN} onChange=${(value) => filterBy({ show: value === 'differing' ? '' : value })} />
      <${Search} label="Search" value=${text} onChange=${(value) => filterBy({ text: value })} />
    </form>
    <${Table}
      label="Comparison"
      rows=${rows}
      keyOf=${(one) => one.key}
      empty=${shown === 'all' ? 'Nothing to compare.' : 'No such differences.'}
      columns=${[
        ['What', (one) => one.name, 'name'],
        ['First', (one) => state(one.first)],
        ['Second', (one) => state(one.second)],
        ['First took', (one) => one.took[0], 'number'],
        ['Second took', (one) => one.took[1], 'number'],
        ['Message', (one) => one.second?.message ?? one.first?.message ?? '', 'wide'],
      ]}
    />`;
}

const IS = {
  all: () => true,
  one: ({ first, second }) => first === undefined || second === undefined,
  outcome: ({ first, second }) => first !== undefined && second !== undefined && first.status !== second.status,
  slower: ({ first, second }) =>
    msOf(first) > 0 && msOf(second) >= 1.5 * msOf(first) && msOf(second) - msOf(first) >= 1000,
  differing: (one) => IS.one(one) || IS.outcome(one) || IS.slower(one),
};

const msOf = (one) => (one?.from && one.to ? new Date(one.to) - new Date(one.from) : 0);

function pairOf(key, first, second, names) {
  const any = first ?? second;
  const name = any.task === undefined ? any.node : `${any.task} on ${names[any.node] ?? any.node}`;
  const took = [first, second].map((one) => (one?.from && one.to ? lasting(one.from, one.to) : ''));
  return { key, name, first, second, took };
}

/** A run with all that it did, by task and node. */
function useRun(id) {
  const run = useData(id === '' ? null : `/api/v1/runs/${encodeURIComponent(id)}`);
  const [state, setState] = useState({});
  const kind = run.data?.kind;
  useEffect(() => {
    if (kind === undefined) return undefined;
    const stop = new AbortController();
    setState({});
    rowsOf(id, kind, stop.signal).then(
      (rows) => setState({ rows }),
      (error) => stop.signal.aborted || setState({ problem: problemOf(error) }),
    );
    return () => stop.abort();
  }, [id, kind]);
  return { run, ...state };
}

async function rowsOf(id, kind, signal) {
  const base = `/api/v1/runs/${encodeURIComponent(id)}`;
  if (kind !== 'execute_graph') {
    const { items } = await get(`${base}/nodes`, signal);
    return new Map(
      items.map((one) => [
        one.name,
        { node: one.name, status: one.state, message: reasonOf(one), from: one.started_at, to: one.ended_at },
      ]),
    );
  }
  const rows = new Map();
  let before;
  do {
    const page = await get(`${base}/tasks${queryOf({ limit: 1000, before })}`, signal);
    for (const { graph, task, node, status, message, time_start: from, time_end: to } of page.items)
      rows.set(JSON.stringify([graph, task, node]), { task, node, status, message, from, to });
    before = page.next ?? undefined;
  } while (before !== undefined);
  return rows;
}
