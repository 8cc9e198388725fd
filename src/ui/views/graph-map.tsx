import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Address, type Answer, at } from '../kit/api.ts';
import { Choice, type Option } from '../kit/ask.tsx';
import { Loaded } from '../kit/parts.tsx';
import { fieldsOf, filterBy } from '../kit/router.ts';
import { shortNames } from '../kit/short-names.ts';
import { useData } from '../kit/store.ts';
import { type Counts, count, said, saidCounts, sum, TASK_STATUSES, totalOf, worst } from '../kit/words.ts';
import { FindTask, Zoom } from './graph-tools.tsx';

const [MIN, MAX] = [0.1, 3];

/** Room for a name, as it is laid out. */
const MOST_LETTERS = 38;

/** Boxes that want to be seen, first those that matter most. */
const URGENT = ['failed', 'blocked', 'retrying', 'running'] as const;

type Layout = Answer<'GET /runs/:run/graph/map'>;
type Box = Layout['boxes'][number];

interface GraphMapProps {
  /** The run. */
  readonly id: string;
  /** Of the graph. */
  readonly type: string;
  /** Of instances, by task. */
  readonly counts: CountsByTask;
  readonly query: URLSearchParams;
  readonly onChoose: (task: string) => void;
}

/**
 * The graph of a run, live: a box for each task or closed group, coloured by the worst of its tasks, with their shares.
 * The API lays it out, and states only change its looks. Groups and expanded ones are in the address.
 */
export function GraphMap({ id, type, query, ...rest }: GraphMapProps) {
  const params = { run: id };
  const [by, open] = fieldsOf(query, ['by', 'open']);
  const map = useData(at('GET /runs/:run/graph/map', { params, query: { graph: type, by, open: open.split('|') } }));
  const svg = at('GET /runs/:run/graph.svg', { params, query: { graph: type } });
  return (
    <Loaded from={map} waits={WAITS}>
      {(data) => <Picture map={data} svg={svg} {...rest} />}
    </Loaded>
  );
}

const WAITS = { text: 'Drawing the graph', meanwhile: 'Tasks and Timeline show the run without it.' };

interface PictureProps extends Omit<GraphMapProps, 'id' | 'type' | 'query'> {
  readonly map: Layout;
  /** The drawing of the whole graph. */
  readonly svg: Address;
}

function Picture({ map, counts, onChoose, svg }: PictureProps) {
  const groupOf = useMemo(
    () =>
      new Map(map.boxes.flatMap(({ name, is_group, tasks }) => (is_group ? tasks.map((task) => [task, name]) : []))),
    [map],
  );
  const names = useMemo(() => map.boxes.flatMap(({ tasks }) => tasks), [map]);
  const short = useMemo(
    () =>
      shortNames(
        map.boxes.map(({ name }) => name),
        MOST_LETTERS,
      ),
    [map],
  );
  const [scale, setScale] = useState<number>();
  const [found, setFound] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const toggle = (group: string): void => {
    const next = new Set(map.frames.map(({ name }) => name));
    if (!next.delete(group)) next.add(group);
    filterBy({ open: [...next].join('|') });
  };
  const scaleToFit = (least: number): number =>
    Math.max(least, Math.min(1, ((box.current?.clientWidth ?? 0) - 24) / map.width));
  useLayoutEffect(() => setScale((before) => before ?? scaleToFit(0.6)), []);
  const s = scale ?? 1;
  const target = found === '' ? mostUrgent(map.boxes, counts) : map.boxes.find((one) => one.tasks.includes(found));
  useEffect(() => {
    // In the picture of the first scale it would be elsewhere.
    if (target === undefined || box.current === null || scale === undefined) return;
    box.current.scrollTo({
      left: (target.x + target.width / 2) * s - box.current.clientWidth / 2,
      top: (target.y + target.height / 2) * s - box.current.clientHeight / 2,
    });
  }, [map, found, target === undefined, scale === undefined]);
  const find = (name: string): void => {
    const group = groupOf.get(name);
    if (group !== undefined) toggle(group);
    setFound(name);
  };
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setScale(Math.max(MIN, Math.min(MAX, s * (event.deltaY < 0 ? 1.1 : 1 / 1.1))));
  };
  const options = map.groupings.map((one): Option => [one, GROUPINGS[one]]);
  const looks = TASK_STATUSES.filter((status) => [...counts.values()].some((one) => one[status]));
  return (
    <>
      <div class="filters">
        <Choice
          label="Group by"
          value={map.by}
          options={options}
          onChange={(value) => filterBy({ by: value, open: '' })}
        />
        {map.by !== 'none' && (
          <span class="actions">
            <button type="button" onClick={() => filterBy({ open: '*' })}>
              Expand all
            </button>
            <button type="button" onClick={() => filterBy({ open: '' })}>
              Collapse all
            </button>
          </span>
        )}
        <FindTask names={names} onFind={find} />
        <Zoom scale={s} min={MIN} max={MAX} onScale={setScale} onFit={() => setScale(scaleToFit(MIN))} />
        <ul class="legend" aria-label="Colours">
          {looks.map((look) => (
            <li key={look}>
              <span class={`swatch is-${look}`}></span>
              {said(look)}
            </li>
          ))}
        </ul>
        <a href={svg} download="graph.svg">
          Download the drawing
        </a>
      </div>
      <div class="picture live map" ref={box} role="region" aria-label="Graph" tabindex={0} onWheel={wheel}>
        <svg
          role="group"
          aria-label={`${count(names.length, 'task')} in ${map.boxes.length} boxes`}
          viewBox={`0 0 ${map.width} ${map.height}`}
          width={map.width * s}
          height={map.height * s}
        >
          <Frames frames={map.frames} onToggle={toggle} />
          <Edges edges={map.edges} />
          {map.boxes.map((one) => (
            <Drawn
              key={`${one.is_group} ${one.name}`}
              box={one}
              name={short.get(one.name) ?? one.name}
              isFound={one.tasks.includes(found)}
              counts={countsOf(one, counts)}
              onClick={() => (one.is_group ? toggle(one.name) : onChoose(one.name))}
            />
          ))}
        </svg>
      </div>
    </>
  );
}

const GROUPINGS = { none: 'no groups', stage: 'stage', tag: 'role or tag' };

type CountsByTask = ReadonlyMap<string, Counts>;

/** Of all instances of its tasks; undefined where there are none. */
function countsOf({ tasks }: Box, counts: CountsByTask): Counts | undefined {
  const all = totalOf(tasks.map((task) => counts.get(task) ?? {}));
  return sum(all) === 0 ? undefined : all;
}

const mostUrgent = (boxes: readonly Box[], counts: CountsByTask): Box | undefined =>
  URGENT.flatMap((status) => boxes.filter((box) => worst(countsOf(box, counts) ?? {}) === status))[0];

interface FramesProps {
  readonly frames: Layout['frames'];
  readonly onToggle: (name: string) => void;
}

/** Around the tasks of an open group; its name closes it. */
const Frames = ({ frames, onToggle }: FramesProps) =>
  frames.map((one) => (
    <g key={one.name} class="frame">
      <rect x={one.x} y={one.y} width={one.width} height={one.height} rx="10"></rect>
      <text
        x={one.x + 10}
        y={one.y + 17}
        role="button"
        tabindex={0}
        aria-label={`Collapse ${one.name}`}
        onClick={() => onToggle(one.name)}
        onKeyDown={(event) => event.key === 'Enter' && onToggle(one.name)}
      >
        ▾ {one.name}
      </text>
    </g>
  ));

const Edges = ({ edges }: { readonly edges: Layout['edges'] }) =>
  edges.map(({ points: [start, ...curve], cross }) => (
    <path class={cross ? 'edge cross' : 'edge'} d={`M${start?.join()}C${curve.join(' ')}`}></path>
  ));

interface DrawnProps {
  readonly box: Box;
  /** As there is room for it. */
  readonly name: string;
  readonly counts: Counts | undefined;
  readonly isFound: boolean;
  readonly onClick: () => void;
}

/** A task, or the tasks of a closed group: the shares of its instances by status below the name. */
function Drawn({ box, name, counts, isFound, onClick }: DrawnProps) {
  const look = counts === undefined ? 'absent' : worst(counts);
  const about = counts === undefined ? 'on no node' : saidCounts(counts);
  const text = `${box.name}: ${box.is_group ? `${count(box.tasks.length, 'task')}, ` : ''}${about}`;
  const perInstance = (box.width - 16) / sum(counts ?? {});
  let x = 8;
  const shares = TASK_STATUSES.flatMap((status) => {
    const width = perInstance * (counts?.[status] ?? 0);
    const part = { status, x, width };
    x += width;
    return width > 0 ? [part] : [];
  });
  return (
    <g
      class={`node is-${look} ${box.is_group ? 'group' : ''} ${isFound ? 'is-found' : ''}`}
      data-task={box.is_group ? undefined : box.name}
      data-group={box.is_group ? box.name : undefined}
      transform={`translate(${box.x},${box.y})`}
      role="button"
      tabindex={0}
      aria-label={text}
      aria-expanded={box.is_group ? 'false' : undefined}
      onClick={onClick}
      onKeyDown={(event) => event.key === 'Enter' && onClick()}
    >
      <title>{text}</title>
      <rect class="box" width={box.width} height={box.height} rx={box.is_group ? 4 : 12}></rect>
      <text x="10" y="19">
        {box.is_group ? `▸ ${name} (${box.tasks.length})` : name}
      </text>
      {shares.map((part) => (
        <rect
          key={part.status}
          class={`share is-${part.status}`}
          x={part.x}
          y="27"
          width={part.width}
          height="7"
        ></rect>
      ))}
    </g>
  );
}
