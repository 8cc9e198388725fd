import { maintenanceText } from '../../core/maintenance.ts';
import { stepTimeText } from '../../core/run/late-text.ts';
import { type Answer, at } from '../kit/api.ts';
import { Search } from '../kit/ask.tsx';
import { Fold, Loaded, State } from '../kit/parts.tsx';
import { filterBy, siteAt } from '../kit/router.ts';
import { useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { count, some } from '../kit/words.ts';

type Site = Answer<'GET /sites/:site'>;
type Strategy = Answer<'GET /sites/:site/revisions/:ref/strategy'>;
type Difference = Answer<'GET /sites/:site/revisions/:ref/difference'>;
type Machines = Answer<'GET /sites/:site/nodes/status'>;

function usePlan(site: string) {
  const params = { site, ref: 'latest' };
  return {
    strategy: useData(at('GET /sites/:site/revisions/:ref/strategy', { params })),
    difference: useData(at('GET /sites/:site/revisions/:ref/difference', { params })),
    machines: useData(at('GET /sites/:site/nodes/status', { params: { site } }), { every: 30_000 }),
  };
}

interface TouchedProps {
  readonly site: string;
  readonly kind: string;
  /** Those of a redeployment. */
  readonly nodes?: readonly string[];
}

/** The nodes that a run on a site would change, by name, from its plan. */
export function Touched({ site, kind, nodes = [] }: TouchedProps) {
  const { strategy, difference, machines } = usePlan(site);
  if (kind === 'test_site') return <p>Nothing is changed.</p>;
  if (kind === 'redeploy_nodes') {
    const kept = new Set(machines.data?.nodes.flatMap(({ node, maintenance }) => (maintenance ? node : [])));
    return (
      <>
        <Effect does="redeploy" of={nodes.filter((node) => !kept.has(node))} />
        <Effect does="refuse" why="in maintenance" of={nodes.filter((node) => kept.has(node))} />
      </>
    );
  }
  return (
    <Loaded from={strategy}>
      {(data) => {
        const rows = rowsOf(data, difference.data, machines.data);
        const isChanged = new Set(difference.data?.nodes.map(({ name }) => name));
        // An update also deploys machines anew whose documents have changed; a deployment leaves what is deployed.
        const fated = rows.map((row) =>
          kind === 'update_site' && row.does === 'leave' && isChanged.has(row.node)
            ? { ...row, does: 'deploy' as const, why: 'its documents have changed' }
            : row,
        );
        return (
          <>
            {rows.length === 0 && <p>No nodes.</p>}
            {WHAT.flatMap((does) =>
              [
                ...Map.groupBy(
                  fated.filter((row) => row.does === does),
                  ({ why }) => why,
                ),
              ].map(([why, own]) => (
                <Effect key={`${does} ${why}`} does={does} why={why} of={own.map(({ node }) => node)} />
              )),
            )}
            <p>
              <a href={`${siteAt(site)}?plan=1`}>Show the plan with reasons</a>
            </p>
          </>
        );
      }}
    </Loaded>
  );
}

/** What a run will do with a node, as text and as the state whose look it has; what matters most first. */
const WILL = {
  deploy: ['will deploy', 'running'],
  redeploy: ['will release and deploy again', 'running'],
  refuse: ['will refuse', 'failed'],
  omit: ['will leave out', 'paused'],
  undecided: ['not decided', 'waiting'],
  leave: ['will not change', 'skipped'],
} as const;

type Will = keyof typeof WILL;
const WHAT = Object.keys(WILL) as Will[];

interface EffectProps {
  readonly does: Will;
  readonly why?: string;
  readonly of: readonly string[];
}

/** More names than these are folded. */
const NAMED = 12;

/** Nodes with the same fate for the same reason, by name. */
const Effect = ({ does, why, of }: EffectProps) =>
  of.length > 0 && (
    <>
      <p>
        {WILL[does][0].replace(/^./, (first) => first.toUpperCase())}: {count(of.length, 'node')}
        {why && <span class="quiet">, {why}</span>} {of.length <= NAMED && <strong>{of.join(', ')}</strong>}
      </p>
      {of.length > NAMED && <Fold label={some(of, 4)}>{() => <strong>{of.join(', ')}</strong>}</Fold>}
    </>
  );

/** The effect of a deployment of the newest revision on each node, with reasons; nothing is changed. */
export function SitePlan({ site, query: given }: { readonly site: Site; readonly query: URLSearchParams }) {
  const { strategy, difference, machines } = usePlan(site.name);
  const text = given.get('node') ?? '';
  return (
    <>
      <h2 id="plan">Deployment plan</h2>
      <Loaded from={strategy}>
        {(data) => {
          const rows = rowsOf(data, difference.data, machines.data);
          const totals = WHAT.map((one) => [one, rows.filter(({ does }) => does === one).length] as const);
          return (
            <>
              <p class="facts">
                Revision {site.latest_revision}:{' '}
                {totals.flatMap(([does, n]) => (n > 0 ? `${WILL[does][0]} ${count(n, 'node')}` : [])).join(', ')}.
                {(machines.problem || machines.data?.stale) && (
                  <span class="bad">
                    {' '}
                    MAAS does not answer, so the state of machines is unknown:{' '}
                    {machines.problem?.detail ?? machines.data?.reason}
                  </span>
                )}
              </p>
              {data.times?.map((one) => (
                <p class="quiet">{stepTimeText(one)}</p>
              ))}
              {data.warnings.map((one) => (
                <p class="banner">{one}</p>
              ))}
              <div class="filters">
                <Search label="Node or group" value={text} onChange={(value) => filterBy({ node: value })} />
              </div>
              <Table
                label="Plan"
                rows={rows.filter((one) => `${one.node} ${one.group}`.includes(text))}
                keyOf={(one) => one.node}
                empty="No nodes match."
                columns={[
                  ['Node', (one) => one.node, 'name'],
                  [
                    'Group',
                    (one) => (
                      <>
                        {one.place}. {one.group} {one.critical && <span class="tag">critical</span>}
                      </>
                    ),
                  ],
                  ['Effect', (one) => <State of={WILL[one.does][1]}>{WILL[one.does][0]}</State>],
                  ['Why', (one) => one.why, 'wide'],
                ]}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** What happens to a node, and why. */
interface Fate {
  readonly does: Will;
  readonly why: string;
}

/** By node, in the order of groups. */
function rowsOf({ order, groups }: Strategy, difference: Difference | undefined, machines: Machines | undefined) {
  const named = new Map(groups.map((one) => [one.name, one]));
  const state = new Map((machines?.nodes ?? []).map((one) => [one.node, one]));
  const changed = new Map((difference?.nodes ?? []).map((one) => [one.name, one]));
  const seen = new Set<string>();
  return order.flatMap((name, index) => {
    const { nodes = [], critical = false, depends_on: after = [] } = named.get(name) ?? {};
    return nodes
      .filter((node) => !seen.has(node) && seen.add(node))
      .map((node) => ({
        node,
        group: name,
        place: index + 1,
        critical,
        ...fateOf(state.get(node), changed.get(node), after),
      }));
  });
}

function fateOf(
  machine: Machines['nodes'][number] | undefined,
  change: Difference['nodes'][number] | undefined,
  after: readonly string[],
): Fate {
  const order = after.length > 0 ? `; after ${after.join(', ')}` : '';
  const news =
    change === undefined
      ? ''
      : change.change === 'changed'
        ? `, changed: ${change.fields.join(', ')}`
        : ', new in the documents';
  if (machine?.maintenance !== undefined) return { does: 'omit', why: maintenanceText(machine.maintenance) };
  if (machine?.deployment === undefined)
    return { does: 'undecided', why: `the state of its machine is unknown${news}${order}` };
  const { does, why } = machine.deployment;
  const more = { deploy: `${news}${order}`, leave: news && `${news}; redeploy it to apply that`, refuse: '' };
  return { does, why: `${why}${more[does]}` };
}
