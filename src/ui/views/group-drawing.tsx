import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import type { RunStatus } from '../../core/contracts/site-run.ts';
import type { NodeReport } from '../../core/contracts/site-run-report.ts';
import { countStates } from '../../core/deployment/report.ts';
import { NodeStanding, Progress, State } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { lookOf, lookOfNode, stateOf } from '../kit/words.ts';

export type SiteGroup = NonNullable<RunFrame['site_groups']>[string];
type LiveGroup = RunStatus['groups'][number];

/** A card, and the room between cards, in pixels: as in views.css. */
const [WIDE, HIGH] = [270, 130] as const;
const [GAP_X, GAP_Y] = [52, 14] as const;
/** More groups that wait for the same are drawn beside each other. */
const ROWS = 5;
/** More nodes are a bar alone. */
const CELLS = 44;

interface DrawingProps {
  readonly groups: readonly SiteGroup[];
  readonly status: Pick<RunStatus, 'groups' | 'awaiting_approval'>;
  readonly nodes: readonly NodeReport[];
  readonly chosen: string | null;
}

/** The groups of a strategy from left to right, as they wait for each other, with their nodes. */
export function GroupDrawing({ groups, status, nodes, chosen }: DrawingProps) {
  const known = new Map(nodes.map((one) => [one.name, one]));
  const now = new Map(status.groups.map((one) => [one.name, one]));
  const awaiting = new Set(status.awaiting_approval?.map(({ before }) => before));
  const places = placesOf(groups);
  const all = [...places.values()];
  const size = {
    width: Math.max(...all.map(({ x }) => x)) + WIDE,
    height: Math.max(...all.map(({ y }) => y)) + HIGH,
  };
  return (
    <section aria-label="Deployment groups">
      <h2>Deployment groups</h2>
      <div class="groups" role="group" aria-label="Deployment groups" tabindex={0}>
        <div class="drawing" style={{ '--width': `${size.width}px`, '--height': `${size.height}px` }}>
          <svg {...size} aria-hidden="true">
            {groups.flatMap(({ name, depends_on }) =>
              depends_on.map((before) => (
                <path key={`${before} ${name}`} d={lineOf(places.get(before), places.get(name))} />
              )),
            )}
          </svg>
          {groups.map((group) => (
            <Group
              key={group.name}
              group={group}
              now={now.get(group.name) ?? group}
              nodes={group.nodes.flatMap((name) => known.get(name) ?? [])}
              place={places.get(group.name) ?? { x: 0, y: 0 }}
              isAwaiting={awaiting.has(group.name)}
              isChosen={chosen === group.name}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

interface Place {
  readonly x: number;
  readonly y: number;
}

interface GroupProps {
  readonly group: SiteGroup;
  /** Its state now. */
  readonly now: LiveGroup;
  readonly nodes: readonly NodeReport[];
  readonly place: Place;
  readonly isAwaiting: boolean;
  readonly isChosen: boolean;
}

function Group({ group, now, nodes, place, isAwaiting, isChosen }: GroupProps) {
  const { name, critical, depends_on, needed } = group;
  const standing = standingOf(group, now, nodes);
  const state = now.rollout?.state === 'held' ? 'held' : isAwaiting ? 'awaiting_approval' : now.state;
  const working = nodes.find(({ running }) => running !== undefined);
  return (
    <article
      class={`group-card ${working === undefined ? lookOf(state) : 'busy'}`}
      style={{ left: `${place.x}px`, top: `${place.y}px` }}
      aria-label={`Group ${name}`}
    >
      <div class="row">
        <button
          type="button"
          class="link"
          title={name}
          aria-pressed={isChosen}
          onClick={() => filterBy({ group: isChosen ? '' : name, page: '', view: '' })}
        >
          {name}
        </button>
        {working === undefined ? <State of={state} /> : <NodeStanding of={working} />}
        {critical && <span class="tag">critical</span>}
      </div>
      {nodes.length <= CELLS && (
        <div class="small-cells" aria-hidden="true">
          {nodes.map((one) => (
            <i key={one.name} class={lookOfNode(one)} title={`${one.name}: ${stateOf(one)}`}></i>
          ))}
        </div>
      )}
      <NodeProgress nodes={nodes} total={group.nodes.length} needed={needed || undefined} />
      <p class={standing.isBad ? 'bad' : 'quiet'} title={standing.text}>
        {standing.text}
      </p>
      {depends_on.length > 0 && <p class="quiet after">after {depends_on.join(', ')}</p>}
    </article>
  );
}

/** How a group stands: why it failed, what its criteria say, or what it still needs. */
function standingOf(
  { needed, nodes: names, criteria, state, reason: told }: SiteGroup,
  now: LiveGroup,
  nodes: readonly NodeReport[],
) {
  const reason = now.reason ?? told;
  if (reason !== undefined) return { text: reason, isBad: now.state === 'failed' };
  const judged = criteria.map(({ met, call, text }) => `${met ? '✓' : '✗'} ${call}: ${text}${met ? '' : ' (not met)'}`);
  const isOpen = state === 'waiting' || state === 'prepared';
  if (!isOpen || !needed) return { text: judged.join('; '), isBad: criteria.some(({ met }) => !met) };
  const { success, failed } = countStates(nodes);
  const spare = names.length - needed - failed;
  const needs = success >= needed ? 'has all it needs' : `needs ${needed - success} more of ${needed}`;
  const waves = now.rollout?.wave ? `; wave ${now.rollout.wave} of ${now.rollout.waves}` : '';
  return { text: `${needs}; ${spare < 0 ? 'too many failed' : `${spare} may still fail`}${waves}`, isBad: spare < 0 };
}

interface NodeProgressProps {
  readonly nodes: readonly NodeReport[];
  readonly total: number;
  /** How many must succeed. */
  readonly needed?: number | undefined;
}

/** The bar of a run, or of a group: its nodes by what becomes of them. */
export function NodeProgress({ nodes, total, needed }: NodeProgressProps) {
  const { success, failed } = countStates(nodes);
  return (
    <Progress
      done={success + failed}
      total={nodes.length || total}
      bad={failed}
      underWay={looksOf(nodes)}
      needed={needed}
    />
  );
}

/** How many nodes have begun and not ended, by their look. */
const looksOf = (nodes: readonly NodeReport[]) =>
  (['busy', 'early'] as const).map((look) => [look, nodes.filter((one) => lookOfNode(one) === look).length] as const);

/** Each group right of all that it waits for. */
function placesOf(groups: readonly SiteGroup[]): ReadonlyMap<string, Place> {
  const known = new Map(groups.map((one) => [one.name, one]));
  const depths = new Map<string, number>();
  const depthOf = (name: string): number => {
    const before = depths.get(name);
    if (before !== undefined) return before;
    depths.set(name, 0);
    const own = Math.max(-1, ...(known.get(name)?.depends_on ?? []).filter((one) => known.has(one)).map(depthOf)) + 1;
    depths.set(name, own);
    return own;
  };
  const places = new Map<string, Place>();
  let column = 0;
  const byDepth = Map.groupBy(groups, ({ name }) => depthOf(name));
  for (const depth of [...byDepth.keys()].sort((a, b) => a - b)) {
    const own = byDepth.get(depth) ?? [];
    const rows = Math.ceil(own.length / Math.ceil(own.length / ROWS));
    for (const [index, { name }] of own.entries())
      places.set(name, {
        x: (column + Math.floor(index / rows)) * (WIDE + GAP_X),
        y: (index % rows) * (HIGH + GAP_Y),
      });
    column += Math.ceil(own.length / rows);
  }
  return places;
}

function lineOf(from: Place | undefined, to: Place | undefined): string {
  if (from === undefined || to === undefined) return '';
  const [x1, y1, x2, y2] = [from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2];
  return `M${x1},${y1} C${x1 + GAP_X / 2},${y1} ${x2 - GAP_X / 2},${y2} ${x2},${y2}`;
}
