import type { ComponentChildren, VNode } from 'preact';
import type { Run } from '../../core/contracts/runs.ts';
import { GRAPH_RUN_KIND, RUN_KINDS, RUN_OUTCOMES } from '../../core/words.ts';
import { at, query } from '../kit/api.ts';
import { Choice, Filters, type Option, optionsOf, Search, showAll } from '../kit/ask.tsx';
import { useClusterNames } from '../kit/names.ts';
import { Command, Empty, Loaded, Older, Progress, RunState, Title } from '../kit/parts.tsx';
import { filterBy, go } from '../kit/router.ts';
import { SavedViews } from '../kit/saved-views.tsx';
import { listsChanged, useData } from '../kit/store.ts';
import { Chosen, type Selection, Table, useSelection } from '../kit/table.tsx';
import { Ago, Lasting } from '../kit/times.tsx';
import { msOf, said, standingOf } from '../kit/words.ts';

const FILTERS = ['text', 'site', 'cluster', 'kind', 'outcome', 'open', 'by', 'since', 'until', 'label'] as const;
type Filter = Readonly<Record<(typeof FILTERS)[number], string>>;

/** The filters of the address as the API's parameters. Days are those of this browser. */
function requestOf({ cluster, label, by, since, until, text, site, kind, outcome }: Filter) {
  const labels = [cluster && `cluster:${cluster}`, label.replace('=', ':')].filter(Boolean);
  const midnight = (day: string, later = 0): string => {
    const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
    return new Date(year, month - 1, date + later).toISOString();
  };
  return {
    text,
    site,
    kind,
    outcome,
    started_by: by,
    since: since && midnight(since),
    until: until && midnight(until, 1),
    label: labels,
  };
}

/** All runs: open ones first, then the newest. Its filters are in the address. */
export function RunsView({ query: given }: { readonly query: URLSearchParams }) {
  const filter = Object.fromEntries(FILTERS.map((key) => [key, given.get(key) ?? ''])) as Filter;
  const before = given.get('before') ?? '';
  const asked = requestOf(filter);
  const again = listsChanged.value;
  const first = before === '' && filter.outcome === '' && filter.open !== 'false';
  const open = useData(first ? at('GET /runs', { query: { ...asked, open: true, limit: 100 } }) : null, { again });
  const list = useData(
    filter.open === 'true' ? null : at('GET /runs', { query: { ...asked, before, open: false, limit: 50 } }),
    { again },
  );
  const isFiltered = FILTERS.some((key) => filter[key] !== '');
  const selection = useSelection([...(open.data?.items ?? []), ...(list.data?.items ?? [])], {
    keyOf: (run) => run.id,
    nameOf: numberedName,
  });
  const [one, other] = selection.rows;
  const areTwo = selection.rows.length === 2;
  const running = open.data?.items.length ?? 0;
  const none = isFiltered ? <NoSuchRun /> : running > 0 ? <p class="quiet">None yet.</p> : <NoRun />;
  return (
    <>
      <Title of="Runs" />
      <RunFilters filter={filter} />
      <SavedViews of="runs" fields={FILTERS} />
      <Chosen selection={selection} what="run">
        <button
          type="button"
          disabled={!areTwo}
          title={areTwo ? undefined : 'Select two runs.'}
          onClick={() => go(`/compare${query({ a: other?.id, b: one?.id })}`)}
        >
          Compare
        </button>
      </Chosen>
      {first && (
        <Loaded from={open}>
          {({ items }) =>
            (items.length > 0 || filter.open === 'true') && (
              <section aria-label="Under way">
                <h2>Under way</h2>
                <RunTable
                  runs={worstFirst(items)}
                  selection={selection}
                  empty={isFiltered ? <NoSuchRun /> : undefined}
                />
              </section>
            )
          }
        </Loaded>
      )}
      {filter.open !== 'true' && (
        <section aria-label="Ended">
          <h2>Ended</h2>
          <Loaded from={list}>
            {({ items, next }) => (
              <>
                <RunTable runs={items} selection={selection} empty={none} isPart={before !== '' || next !== null} />
                <Older before={before} next={next} />
              </>
            )}
          </Loaded>
        </section>
      )}
    </>
  );
}

function RunFilters({ filter }: { readonly filter: Filter }) {
  const sites = useData(at('GET /sites'));
  const clusters = useClusterNames();
  const choose = (field: string) => (value: string) => filterBy({ [field]: value, before: '' });
  const chosen = (all: readonly string[]): Option[] => [['', 'all'], ...all.map((one): Option => [one, said(one)])];
  const day = (field: 'since' | 'until', label: string) => (
    <label class="field">
      <span>{label}</span>
      <input type="date" value={filter[field]} onChange={(event) => choose(field)(event.currentTarget.value)} />
    </label>
  );
  return (
    <Filters label="Filter runs" of={FILTERS}>
      <Search label="Search" value={filter.text} placeholder="title, reason, failure …" onChange={choose('text')} />
      <Choice
        label="Site"
        value={filter.site}
        options={[['', 'all'], ...optionsOf((sites.data?.items ?? []).map((one) => one.name))]}
        onChange={choose('site')}
      />
      <Choice
        label="Cluster"
        value={filter.cluster}
        options={[['', 'all'], ...[...clusters].map(([id, name]): Option => [String(id), name])]}
        onChange={choose('cluster')}
      />
      <Choice label="Kind" value={filter.kind} options={chosen(RUN_KINDS)} onChange={choose('kind')} />
      <Choice label="Outcome" value={filter.outcome} options={chosen(RUN_OUTCOMES)} onChange={choose('outcome')} />
      <Choice
        label="State"
        value={filter.open}
        options={[
          ['', 'all'],
          ['true', 'under way'],
          ['false', 'ended'],
        ]}
        onChange={choose('open')}
      />
      <Search label="By" value={filter.by} placeholder="full name" onChange={choose('by')} />
      {day('since', 'From')} {day('until', 'To')}
      <Search label="Label" value={filter.label} placeholder="name=value" onChange={choose('label')} />
    </Filters>
  );
}

const NoSuchRun = () => (
  <Empty title="No runs match.">
    <p>
      Remove a filter above, or{' '}
      <button type="button" class="link" onClick={() => showAll(FILTERS)}>
        show all runs
      </button>
      .
    </p>
  </Empty>
);

export const NoRun = () => (
  <Empty title="Nothing has run yet.">
    <p>
      Deploy a <a href="/sites">site</a>, or run a graph on a <a href="/clusters">cluster</a>: its progress is shown
      here.
    </p>
    <Command text="sitewright site deploy SITE" />
    <Command text="sitewright graph execute --cluster CLUSTER" />
  </Empty>
);

const worstFirst = (runs: readonly Run[]): Run[] =>
  [...runs].sort((a, b) => Number(b.failure !== null) - Number(a.failure !== null));

interface RunTableProps {
  readonly runs: readonly Run[];
  readonly selection?: Selection<Run>;
  readonly empty?: string | VNode | undefined;
  readonly next?: string;
  /** Whether there are more than these. */
  readonly isPart?: boolean;
  /** What can be done to one. */
  readonly actions?: (run: Run) => ComponentChildren;
}

export const RunTable = ({ runs, empty = 'No runs yet.', actions, ...rest }: RunTableProps) => {
  const clusters = useClusterNames();
  return (
    <Table
      label="Runs"
      rows={runs}
      keyOf={(run) => run.id}
      empty={empty}
      {...rest}
      columns={[
        ['#', (run) => run.number ?? '', 'number'],
        [
          'Run',
          (run) => <a href={`/runs/${run.id}`}>{nameOfRun(run, clusters)}</a>,
          'name',
          (run) => nameOfRun(run, clusters),
        ],
        ['State', (run) => <RunState run={run} />, undefined, (run) => standingOf(run).text],
        ['Progress', (run) => <HowFar run={run} />, 'far', (run) => run.total && (run.done ?? 0) / run.total],
        ['Started', (run) => <Ago of={run.started_at} />, 'number', (run) => msOf(run.started_at)],
        [
          'Took',
          (run) => <Lasting from={run.started_at} to={run.ended_at} />,
          'number',
          (run) => (run.ended_at === null ? Date.now() : msOf(run.ended_at)) - msOf(run.started_at),
        ],
        ['By', (run) => run.started_by ?? ''],
        ['Why', (run) => run.reason ?? '', 'wide'],
        ...(actions === undefined ? [] : [['', actions, 'actions'] as const]),
      ]}
    />
  );
};

/** For a trend. */
export const pastOf = ({ outcome, started_at: from, ended_at: to }: Run) => ({ outcome, from, to });

/** Its progress and failures. */
function HowFar({ run }: { readonly run: Run }) {
  const [what, bad] = run.kind === GRAPH_RUN_KIND ? ['tasks', run.failed_tasks] : ['nodes', run.failed_nodes];
  return (
    <>
      {run.total !== null && <Progress small done={run.done} total={run.total} what={what} bad={bad ?? 0} />}
      {run.failure && run.outcome !== 'success' && (
        <p class="bad" title={run.failure}>
          {short(run.failure)}
        </p>
      )}
    </>
  );
}

const MAX = 140;
const short = (text: string): string => (text.length > MAX ? `${text.slice(0, MAX - 1)}…` : text);

type Clusters = ReadonlyMap<number, string>;

/** The target of a run, by name if known. */
const subjectOf = ({ site, cluster }: Run, clusters: Clusters): string =>
  site ?? (cluster === null ? '' : `on cluster ${clusters.get(cluster) ?? cluster}`);

export const nameOfRun = (run: Run, clusters: Clusters): string =>
  run.title ?? `${said(run.kind)} ${subjectOf(run, clusters)}`;

const numberedName = (run: Run): string => `run ${run.number ?? run.id}`;
