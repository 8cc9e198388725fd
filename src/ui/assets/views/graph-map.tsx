import { Graph, layout } from '@dagrejs/dagre';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Address, at } from '../api.ts';
import { Choice, type Option } from '../ask.tsx';
import { type Box, boxesOf, type Edge, groupsOf, type Shape, summed } from '../graph-shape.ts';
import { Loaded } from '../parts.tsx';
import { filterBy } from '../router.ts';
import { useData } from '../store.ts';
import { type Counts, count, said, saidCounts, sum, TASK_STATUSES, worst } from '../words.ts';
import { FindTask, Zoom } from './graph-tools.tsx';

/** Above so many tasks they are shown in groups at first. */
const FEW = 40;
const [MIN, MAX] = [0.1, 3];
const HEIGHT = 42;
const widthOf = (name: string): number => Math.min(320, 34 + name.length * 7.4);

/** Boxes that want to be seen, first those that matter most. */
const URGENT = ['failed', 'blocked', 'retrying', 'running'] as const;

interface PictureProps {
  /** Of instances, by task. */
  readonly counts: ReadonlyMap<string, Counts>;
  readonly query: URLSearchParams;
  readonly onChoose: (task: string) => void;
}

interface GraphMapProps extends PictureProps {
  /** The run. */
  readonly id: string;
  /** Of the graph. */
  readonly type: string;
}

/**
 * The graph of a run, live: a box for each task or closed group, coloured by the worst of its tasks, with their shares.
 * Groups and expanded ones are in the address.
 */
export function GraphMap({ id, type, ...rest }: GraphMapProps) {
  const place = { params: { run: id }, query: { graph: type } };
  const shape = useData(at('GET /runs/:run/graph', place));
  return (
    <Loaded from={shape}>
      {(data) => <Picture shape={data} svg={at('GET /runs/:run/graph.svg', place)} {...rest} />}
    </Loaded>
  );
}

function Picture({
  shape,
  counts,
  query,
  onChoose,
  svg,
}: PictureProps & { readonly shape: Shape; readonly svg: Address }) {
  const hasStages = shape.tasks.some(({ type }) => type === 'stage');
  const usual = shape.tasks.length <= FEW ? 'none' : hasStages ? 'stage' : 'tag';
  const by = query.get('by') ?? usual;
  const groups = useMemo(() => groupsOf(shape, by), [shape, by]);
  const names = useMemo(() => [...new Set(groups.values())], [groups]);
  const openText = query.get('open') ?? '';
  const open = useMemo(() => new Set(openText === '*' ? names : openText.split('|')), [openText, names]);
  const picture = useMemo(() => placed(boxesOf(shape, groups, open)), [shape, groups, open]);
  const [scale, setScale] = useState<number>();
  const [found, setFound] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const toggle = (group: string): void => {
    const next = new Set([...open].filter((one) => names.includes(one)));
    if (!next.delete(group)) next.add(group);
    filterBy({ open: [...next].join('|') });
  };
  const scaleToFit = (least: number): number =>
    Math.max(least, Math.min(1, ((box.current?.clientWidth ?? 0) - 24) / picture.width));
  useLayoutEffect(() => setScale((before) => before ?? scaleToFit(0.6)), []);
  const s = scale ?? 1;
  const target =
    found === '' ? mostUrgent(picture.boxes, counts) : picture.boxes.find((one) => one.tasks.includes(found));
  const targetKey = target?.key;
  useEffect(() => {
    if (target === undefined || box.current === null) return;
    box.current.scrollTo({
      left: target.x * s - box.current.clientWidth / 2,
      top: target.y * s - box.current.clientHeight / 2,
    });
  }, [picture, found, targetKey === undefined]);
  const find = (name: string): void => {
    const group = groups.get(name);
    if (group !== undefined && !open.has(group)) toggle(group);
    setFound(name);
  };
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setScale(Math.max(MIN, Math.min(MAX, s * (event.deltaY < 0 ? 1.1 : 1 / 1.1))));
  };
  const options: Option[] = [['none', 'no groups'], ...(hasStages ? [STAGE] : []), ['tag', 'role or tag']];
  const looks = TASK_STATUSES.filter((status) => [...counts.values()].some((one) => one[status]));
  return (
    <>
      <div class="filters">
        <Choice
          label="Group by"
          value={by}
          options={options}
          onChange={(value) => filterBy({ by: value === usual ? '' : value, open: '' })}
        />
        {groups.size > 0 && (
          <span class="actions">
            <button type="button" onClick={() => filterBy({ open: '*' })}>
              Expand all
            </button>
            <button type="button" onClick={() => filterBy({ open: '' })}>
              Collapse all
            </button>
          </span>
        )}
        <FindTask names={shape.tasks.map(({ name }) => name)} onFind={find} />
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
          aria-label={`${count(shape.tasks.length, 'task')} in ${picture.boxes.length} boxes`}
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          width={picture.width * s}
          height={picture.height * s}
        >
          <Frames frames={picture.frames} onToggle={toggle} />
          <Edges edges={picture.edges} />
          {picture.boxes.map((one) => (
            <Drawn
              key={one.key}
              box={one}
              isFound={one.tasks.includes(found)}
              counts={summed(one.tasks, counts)}
              onClick={() => (one.isGroup ? toggle(one.name) : onChoose(one.name))}
            />
          ))}
        </svg>
      </div>
    </>
  );
}

const STAGE: Option = ['stage', 'stage'];

const mostUrgent = (boxes: readonly PlacedBox[], counts: ReadonlyMap<string, Counts>): PlacedBox | undefined =>
  URGENT.flatMap((status) => boxes.filter(({ tasks }) => worst(summed(tasks, counts) ?? {}) === status))[0];

/** Around the tasks of an open group; its name closes it. */
const Frames = ({
  frames,
  onToggle,
}: {
  readonly frames: readonly Frame[];
  readonly onToggle: (name: string) => void;
}) =>
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

const Edges = ({ edges }: { readonly edges: readonly PlacedEdge[] }) =>
  edges.map((one) => (
    <path
      key={one.key}
      class={one.cross ? 'edge cross' : 'edge'}
      d={`M${one.points.map(({ x, y }) => `${x},${y}`).join('L')}`}
      marker-end="none"
    ></path>
  ));

interface DrawnProps {
  readonly box: PlacedBox;
  readonly counts: Counts | undefined;
  readonly isFound: boolean;
  readonly onClick: () => void;
}

/** A task, or the tasks of a closed group: the shares of its instances by status below the name. */
function Drawn({ box, counts, isFound, onClick }: DrawnProps) {
  const look = counts === undefined ? 'absent' : worst(counts);
  const about = counts === undefined ? 'on no node' : saidCounts(counts);
  const text = `${box.name}: ${box.isGroup ? `${count(box.tasks.length, 'task')}, ` : ''}${about}`;
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
      class={`node is-${look} ${box.isGroup ? 'group' : ''} ${isFound ? 'is-found' : ''}`}
      data-task={box.isGroup ? undefined : box.name}
      data-group={box.isGroup ? box.name : undefined}
      transform={`translate(${box.x - box.width / 2},${box.y - HEIGHT / 2})`}
      role="button"
      tabindex={0}
      aria-label={text}
      aria-expanded={box.isGroup ? 'false' : undefined}
      onClick={onClick}
      onKeyDown={(event) => event.key === 'Enter' && onClick()}
    >
      <title>{text}</title>
      <rect class="box" width={box.width} height={HEIGHT} rx={box.isGroup ? 4 : 12}></rect>
      <text x="10" y="19">
        {box.isGroup ? `▸ ${shortened(box.name)} (${box.tasks.length})` : shortened(box.name)}
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

const shortened = (name: string): string => (name.length > 38 ? `${name.slice(0, 37)}…` : name);

interface PlacedBox extends Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

interface PlacedEdge extends Edge {
  readonly key: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** Around the tasks of an open group. */
interface Frame {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where boxes and edges lie. */
function placed({ boxes, edges }: ReturnType<typeof boxesOf>) {
  const graph = new Graph({ compound: true }).setGraph({
    rankdir: 'LR',
    nodesep: 14,
    ranksep: 46,
    marginx: 16,
    marginy: 16,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) {
    const text = box.isGroup ? `▸ ${box.name} (${box.tasks.length})` : box.name;
    graph.setNode(box.key, { width: widthOf(text), height: HEIGHT });
    if (box.parent === undefined) continue;
    graph.setNode(`frame:${box.parent}`, { label: box.parent, paddingTop: 20 });
    graph.setParent(box.key, `frame:${box.parent}`);
  }
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width, height } = graph.graph();
  const frames = graph
    .nodes()

    .filter((key: string) => key.startsWith('frame:'))

    .map((key: string) => {
      const { x, y, width: w, height: h } = graph.node(key);
      return { name: key.slice('frame:'.length), x: x - w / 2, y: y - h / 2 - 10, width: w, height: h + 14 };
    });
  return {
    boxes: boxes.map((box) => ({ ...box, ...graph.node(box.key) })),
    edges: edges.map((edge) => ({
      ...edge,
      key: `${edge.from} ${edge.to}`,
      points: graph.edge(edge.from, edge.to).points,
    })),
    frames,
    width: Math.max(width, 200),
    height: Math.max(height, 80),
  };
}
