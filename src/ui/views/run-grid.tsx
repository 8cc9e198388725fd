import { useRef } from 'preact/hooks';
import { type Answer, at, get } from '../kit/api.ts';
import { type Loading, useRead } from '../kit/store.ts';
import { type Column, Table } from '../kit/table.tsx';
import { type Counts, lookOf, saidCounts, sum, timeOf, totalOf, worst } from '../kit/words.ts';

/** Maximum number of runs side by side. */
const COLUMNS = 20;

type Run = Answer<'GET /runs'>['items'][number];

/** Result of each task in each run, the newest at the right, to see when a task began to fail. */
export function RunGrid({ runs }: { readonly runs: readonly Run[] }) {
  const shown = runs.slice(0, COLUMNS).reverse();
  const counts = new Map(useCounts(shown).data?.map(([{ id }, graphs]) => [id, byTask(graphs)]));
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

type Graphs = Answer<'GET /runs/:run/counts'>['graphs'];

/** Runs of graphs with the counts of their tasks; those of ended runs are read once. */
export function useCounts(runs: readonly Run[] | undefined): Loading<readonly (readonly [run: Run, graphs: Graphs])[]> {
  const known = useRef(new Map<string, Graphs>());
  const key = runs && `counts?${runs.map((run) => `${run.id}/${run.outcome ?? run.done}`).join()}`;
  const countsOf = async (run: Run, signal: AbortSignal): Promise<Graphs> => {
    const before = known.current.get(run.id);
    if (before !== undefined) return before;
    const { graphs } = await get(at('GET /runs/:run/counts', { params: { run: run.id } }), signal);
    if (run.outcome !== null) known.current.set(run.id, graphs);
    return graphs;
  };
  return useRead(key ?? null, (signal) =>
    Promise.all((runs ?? []).map(async (run) => [run, await countsOf(run, signal)] as const)),
  );
}

function byTask(graphs: Graphs): ReadonlyMap<string, Counts> {
  const all = new Map<string, Counts>();
  for (const { tasks } of graphs)
    for (const [task, counts] of Object.entries(tasks)) {
      const own = totalOf([all.get(task) ?? {}, counts]);
      if (sum(own) > 0) all.set(task, own);
    }
  return all;
}
