import { type Answer, at } from '../kit/api.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { count, lasting, lookOf, msOf, said, timeOf } from '../kit/words.ts';

/** What ran once, on a site, a cluster or a machine. */
export interface Past {
  readonly outcome: string | null;
  readonly from: string | null | undefined;
  readonly to: string | null | undefined;
  /** Tries of a machine; none where that is not known. */
  readonly attempts?: number;
}

/** So many are drawn, and so many are judged. */
const [DRAWN, JUDGED] = [20, 5] as const;
const [BAR, HIGH] = [8, 28] as const;
const BAD: ReadonlySet<string | null> = new Set(['failed', 'success_with_failures', 'terminated', 'timed_out']);

interface TrendProps {
  readonly of: readonly Past[];
  readonly what: string;
  /** Without its words, which readers of the screen still have. */
  readonly isBrief?: boolean;
}

/** How the last ones ended and how long they took, the newest at the right. */
export function Trend({ of, what, isBrief = false }: TrendProps) {
  const ended = of.filter(({ outcome, from, to }) => outcome !== null && from && to).slice(0, DRAWN);
  if (ended.length < 2) return null;
  const took = ended.map(({ from, to }) => msOf(to ?? 0) - msOf(from ?? 0));
  const most = Math.max(1, ...took);
  const middle = [...took].sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0;
  const judged = ended.slice(0, JUDGED);
  const failed = judged.filter(({ outcome }) => BAD.has(outcome)).length;
  const tried = ended.filter(({ attempts }) => attempts);
  const first = tried.filter(({ attempts, outcome }) => attempts === 1 && !BAD.has(outcome)).length;
  const tries = tried.length > 0 ? ` ${first} of ${tried.length} succeeded with the first attempt.` : '';
  const text = `${failed === 0 ? 'None' : failed} of the last ${count(judged.length, what)} ended with failures; the median took ${lasting(0, middle)}.${tries}`;
  return (
    <figure class="trend">
      <svg width={ended.length * BAR} height={HIGH} role="img" aria-label={text}>
        {ended.map(({ outcome, from }, index) => {
          const high = Math.max(3, (HIGH * (took[index] ?? 0)) / most);
          return (
            <rect
              key={from}
              class={lookOf(outcome)}
              x={(ended.length - 1 - index) * BAR}
              y={HIGH - high}
              width={BAR - 2}
              height={high}
            >
              <title>{`${timeOf(from)}: ${said(outcome ?? '')}, ${lasting(0, took[index] ?? 0)}`}</title>
            </rect>
          );
        })}
      </svg>
      {!isBrief && <figcaption class={failed > 0 ? 'bad' : 'quiet'}>{text}</figcaption>}
    </figure>
  );
}

type OfTasks = Answer<'GET /clusters/:id/task-trends'>;

interface PartTrendProps {
  readonly of: Pick<OfTasks['tasks'][number], 'past'>;
  readonly isBrief?: boolean;
}

/** The same of a task, or of a node of a site. */
export const PartTrend = ({ of: { past }, isBrief = false }: PartTrendProps) => (
  <Trend
    of={past.map(({ at: from, seconds, outcome }) => {
      return { outcome, from, to: seconds === null ? null : new Date(msOf(from) + seconds * 1000).toISOString() };
    })}
    what="run"
    isBrief={isBrief}
  />
);

const SHOWN = 20;

interface TrendsProps<T> {
  readonly title: string;
  readonly what: string;
  readonly of: Omit<OfTasks, 'tasks'> | undefined;
  readonly rows: readonly T[];
  readonly nameOf: (row: T) => string;
}

/** How often what ran succeeded at once, and the trends of the first ones. */
function Trends<T extends Omit<OfTasks['tasks'][number], 'task'>>({ title, what, of, rows, nameOf }: TrendsProps<T>) {
  if (of === undefined || of.ended === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <p class="facts">
        In {count(of.runs, 'run')}, <strong>{Math.floor((100 * of.first_attempts) / of.ended)} %</strong> of {what}{' '}
        succeeded with the first attempt.
      </p>
      <Table
        label={title}
        empty="Each succeeded with the first attempt."
        rows={rows.slice(0, SHOWN)}
        keyOf={nameOf}
        columns={[
          ['Name', nameOf, 'name'],
          ['Takes', ({ seconds }) => lasting(0, (seconds ?? 0) * 1000), 'number', ({ seconds }) => seconds],
          [
            'First attempt',
            (one) => `${one.first_attempts} of ${one.ended}`,
            'number',
            (one) => one.first_attempts / one.ended,
          ],
          ['Trend', (one) => <PartTrend of={one} isBrief />],
        ]}
      />
    </>
  );
}

export function SlowestTasks({ cluster }: { readonly cluster: string }) {
  const again = listsChanged.value;
  const { data } = useData(at('GET /clusters/:id/task-trends', { params: { id: cluster } }), { again });
  return <Trends title="Slowest tasks" what="tasks" of={data} rows={data?.tasks ?? []} nameOf={({ task }) => task} />;
}

export function NodeTrends({ site }: { readonly site: string }) {
  const again = listsChanged.value;
  const { data } = useData(at('GET /sites/:site/node-trends', { params: { site } }), { again });
  const rows = (data?.nodes ?? []).filter(({ ended, first_attempts: first }) => first < ended);
  return (
    <Trends
      title="Nodes in the last runs"
      what="deployments of nodes"
      of={data}
      rows={rows}
      nameOf={({ node }) => node}
    />
  );
}
