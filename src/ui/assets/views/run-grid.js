import { useEffect, useState } from 'preact/hooks';
import { get } from '../api.js';
import { html } from '../html.js';
import { Table } from '../table.js';
import { lookOf, said, sum, TASK_STATUSES, timeOf, worst } from '../words.js';

/** Maximum number of runs side by side. */
const COLUMNS = 20;

/** Result of each task in each run, the newest at the right, to see when a task began to fail. */
export function RunGrid({ runs }) {
  const shown = runs.slice(0, COLUMNS).reverse();
  const counts = useCounts(shown);
  const tasks = [...new Set(shown.flatMap((run) => [...(counts.get(run.id)?.keys() ?? [])]))];
  if (tasks.length === 0) return null;
  const cell = (run) => (task) => {
    const own = counts.get(run.id)?.get(task);
    if (own === undefined) return html`<span class="quiet" aria-label="not in this run">·</span>`;
    const text = TASK_STATUSES.filter((status) => own[status] > 0)
      .map((status) => `${own[status]} ${said(status)}`)
      .join(', ');
    const name = `${task} in run ${run.number ?? run.id}: ${text}`;
    return html`<a class=${`cell ${lookOf(worst(own))}`} href=${`/runs/${run.id}?${new URLSearchParams({ task })}`} title=${name} aria-label=${name}></a>`;
  };
  return html`<h2>Tasks by run</h2>
    <${Table}
      label="Tasks by run"
      rows=${tasks}
      keyOf=${(task) => task}
      columns=${[
        ['Task', (task) => task, 'name'],
        ...shown.map((run) => [
          run.number === null ? timeOf(run.started_at) : `#${run.number}`,
          cell(run),
          'grid-cell',
        ]),
      ]}
    />`;
}

const AGAIN_MS = 2_000;

/** By run and task the number of its instances by status; ended runs are read once. */
function useCounts(runs) {
  const [known, setKnown] = useState(new Map());
  const [failures, setFailures] = useState(0);
  const key = runs.map((run) => `${run.id}/${run.outcome ?? run.done}`).join();
  useEffect(() => {
    const stop = new AbortController();
    let again;
    for (const run of runs) {
      if (run.outcome !== null && known.has(run.id)) continue;
      get(`/api/v1/runs/${run.id}/counts`, stop.signal)
        .then(({ graphs }) => setKnown((before) => new Map(before).set(run.id, byTask(graphs))))
        .catch(() => {
          if (!stop.signal.aborted) again ??= setTimeout(() => setFailures(failures + 1), AGAIN_MS);
        });
    }
    return () => {
      stop.abort();
      clearTimeout(again);
    };
  }, [key, failures]);
  return known;
}

function byTask(graphs) {
  const all = new Map();
  for (const { tasks } of graphs)
    for (const [task, counts] of Object.entries(tasks)) {
      const own = all.get(task) ?? {};
      for (const [status, n] of Object.entries(counts)) own[status] = (own[status] ?? 0) + n;
      if (sum(own) > 0) all.set(task, own);
    }
  return all;
}
