import { useEffect, useState } from 'preact/hooks';
import { type Answer, at, get } from '../api.ts';
import { type Column, Table } from '../table.tsx';
import { type Counts, lookOf, saidCounts, sum, timeOf, totalOf, worst } from '../words.ts';

/** Maximum number of runs side by side. */
const COLUMNS = 20;

type Run = Answer<'GET /runs'>['items'][number];

/** Result of each task in each run, the newest at the right, to see when a task began to fail. */
export function RunGrid({ runs }: { readonly runs: readonly Run[] }) {
  const shown = runs.slice(0, COLUMNS).reverse();
  const counts = useCounts(shown);
  const tasks = [...new Set(shown.flatMap((run) => [...(counts.get(run.id)?.keys() ?? [])]))];
  if (tasks.length === 0) return null;
  const cell = (run: Run) => (task: string) => {
    const own = counts.get(run.id)?.get(task);
    if (own === undefined)
      return (
        <span class="quiet" aria-label="not in this run">
          ·
        </span>
      );
    const name = `${task} in run ${run.number ?? run.id}: ${saidCounts(own)}`;
    return (
      <a
        class={`cell ${lookOf(worst(own))}`}
        href={`/runs/${run.id}?${new URLSearchParams({ task })}`}
        title={name}
        aria-label={name}
      ></a>
    );
  };
  return (
    <>
      <h2>Tasks by run</h2>
      <Table
        label="Tasks by run"
        rows={tasks}
        keyOf={(task) => task}
        columns={[
          ['Task', (task) => task, 'name'],
          ...shown.map(
            (run): Column<string> => [
              run.number === null ? timeOf(run.started_at) : `#${run.number}`,
              cell(run),
              'grid-cell',
            ],
          ),
        ]}
      />
    </>
  );
}

const AGAIN_MS = 2_000;

/** By run and task the number of its instances by status; ended runs are read once. */
function useCounts(runs: readonly Run[]): ReadonlyMap<string, ReadonlyMap<string, Counts>> {
  const [known, setKnown] = useState<ReadonlyMap<string, ReadonlyMap<string, Counts>>>(new Map());
  const [failures, setFailures] = useState(0);
  const key = runs.map((run) => `${run.id}/${run.outcome ?? run.done}`).join();
  useEffect(() => {
    const stop = new AbortController();
    let again: number | undefined;
    for (const run of runs) {
      if (run.outcome !== null && known.has(run.id)) continue;
      get(at('GET /runs/:run/counts', { params: { run: run.id } }), stop.signal)
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

function byTask(graphs: Answer<'GET /runs/:run/counts'>['graphs']): ReadonlyMap<string, Counts> {
  const all = new Map<string, Counts>();
  for (const { tasks } of graphs)
    for (const [task, counts] of Object.entries(tasks)) {
      const own = totalOf([all.get(task) ?? {}, counts]);
      if (sum(own) > 0) all.set(task, own);
    }
  return all;
}
