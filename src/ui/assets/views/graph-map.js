import { Graph, layout } from '@dagrejs/dagre';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { query as queryOf } from '../api.js';
import { Choice } from '../ask.js';
import { boxesOf, groupsOf, summed } from '../graph-shape.js';
import { html } from '../html.js';
import { Loaded } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { count, said, sum, TASK_STATUSES, worst } from '../words.js';

/** Above so many tasks they are shown in groups at first. */
const FEW = 40;
const [MIN, MAX] = [0.1, 3];
const HEIGHT = 42;
const widthOf = (name) => Math.min(320, 34 + name.length * 7.4);

/** Boxes that want to be seen, first those that matter most. */
const URGENT = ['failed', 'blocked', 'retrying', 'running'];

/**
 * The graph of a run, live: a box for each task or closed group, coloured by the worst of its tasks, with their shares.
 * Groups and expanded ones are in the address. `counts`: by task the number of its instances by status.
 */
export function GraphMap({ base, graph, counts, query, onChoose }) {
  const shape = useData(`${base}/graph${queryOf({ graph: graph.type })}`);
  return html`<${Loaded} from=${shape}>
    ${(data) => html`<${Picture} shape=${data} counts=${counts} query=${query} onChoose=${onChoose} path=${`${base}/graph.svg${queryOf({ graph: graph.type })}`} />`}
  <//>`;
}

function Picture({ shape, counts, query, onChoose, path }) {
  const hasStages = shape.tasks.some(({ type }) => type === 'stage');
  const usual = shape.tasks.length <= FEW ? 'none' : hasStages ? 'stage' : 'tag';
  const by = query.get('by') ?? usual;
  const groups = useMemo(() => groupsOf(shape, by), [shape, by]);
  const names = useMemo(() => [...new Set(groups.values())], [groups]);
  const openText = query.get('open') ?? '';
  const open = useMemo(() => new Set(openText === '*' ? names : openText.split('|')), [openText, names]);
  const picture = useMemo(() => placed(boxesOf(shape, groups, open)), [shape, groups, open]);
  const [scale, setScale] = useState(undefined);
  const [found, setFound] = useState('');
  const box = useRef(null);
  const toggle = (group) => {
    const next = new Set([...open].filter((one) => names.includes(one)));
    if (!next.delete(group)) next.add(group);
    filterBy({ open: [...next].join('|') });
  };
  const fit = () => setScale(Math.max(MIN, Math.min(1, (box.current.clientWidth - 24) / picture.width)));
  useLayoutEffect(() => {
    if (scale === undefined) setScale(Math.max(0.6, Math.min(1, (box.current.clientWidth - 24) / picture.width)));
  }, []);
  const target =
    found === ''
      ? URGENT.flatMap((status) => picture.boxes.filter((one) => worst(summed(one.tasks, counts)) === status))[0]
      : picture.boxes.find((one) => one.tasks.includes(found));
  const targetKey = target?.key;
  useEffect(() => {
    if (target === undefined) return;
    box.current.scrollTo({
      left: target.x * (scale ?? 1) - box.current.clientWidth / 2,
      top: target.y * (scale ?? 1) - box.current.clientHeight / 2,
    });
  }, [picture, found, targetKey === undefined]);
  const find = (name) => {
    if (groups.has(name) && !open.has(groups.get(name))) toggle(groups.get(name));
    setFound(name);
  };
  const wheel = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setScale((before) => Math.max(MIN, Math.min(MAX, before * (event.deltaY < 0 ? 1.1 : 1 / 1.1))));
  };
  const options = [['none', 'no groups'], ...(hasStages ? [['stage', 'stage']] : []), ['tag', 'role or tag']];
  const looks = TASK_STATUSES.filter((status) => [...counts.values()].some((one) => one[status] > 0));
  const s = scale ?? 1;
  return html`<div class="filters">
      <${Choice} label="Group by" value=${by} options=${options} onChange=${(value) => filterBy({ by: value === usual ? '' : value, open: '' })} />
      ${
        groups.size > 0 &&
        html`<span class="actions"><button type="button" onClick=${() => filterBy({ open: '*' })}>Expand all</button>
          <button type="button" onClick=${() => filterBy({ open: '' })}>Collapse all</button></span>`
      }
      <${Find} names=${shape.tasks.map(({ name }) => name)} onFind=${find} />
      <span class="actions">
        <button type="button" aria-label="Zoom out" disabled=${s <= MIN} onClick=${() => setScale(Math.max(MIN, s / 1.4))}>−</button>
        <button type="button" onClick=${fit}>Fit</button>
        <button type="button" onClick=${() => setScale(1)}>100 %</button>
        <button type="button" aria-label="Zoom in" disabled=${s >= MAX} onClick=${() => setScale(Math.min(MAX, s * 1.4))}>+</button>
      </span>
      <ul class="legend" aria-label="Colours">
        ${looks.map((look) => html`<li key=${look}><span class=${`swatch is-${look}`}></span>${said(look)}</li>`)}
      </ul>
      <a href=${path} download="graph.svg">Download the drawing</a>
    </div>
    <div class="picture live map" ref=${box} role="region" aria-label="Graph" tabindex="0" onWheel=${wheel}>
      <svg
        role="group"
        aria-label=${`${count(shape.tasks.length, 'task')} in ${picture.boxes.length} boxes`}
        viewBox=${`0 0 ${picture.width} ${picture.height}`}
        width=${picture.width * s}
        height=${picture.height * s}
      >
        <${Frames} frames=${picture.frames} onToggle=${toggle} />
        <${Edges} edges=${picture.edges} />
        ${picture.boxes.map(
          (one) =>
            html`<${Box} key=${one.key} box=${one} isFound=${one.tasks.includes(found)} counts=${summed(one.tasks, counts)} onClick=${() => (one.isGroup ? toggle(one.name) : onChoose(one.name))} />`,
        )}
      </svg>
    </div>`;
}

function Find({ names, onFind }) {
  const id = useId();
  return html`<label class="field"><span>Find a task</span>
    <input type="search" list=${id} autocomplete="off" onInput=${({ target }) => names.includes(target.value) && onFind(target.value)} />
    <datalist id=${id}>${names.map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
  </label>`;
}

/** Around the tasks of an open group; its name closes it. */
const Frames = ({ frames, onToggle }) =>
  frames.map(
    (one) => html`<g key=${one.name} class="frame">
      <rect x=${one.x} y=${one.y} width=${one.width} height=${one.height} rx="10"></rect>
      <text
        x=${one.x + 10}
        y=${one.y + 17}
        role="button"
        tabindex="0"
        aria-label=${`Collapse ${one.name}`}
        onClick=${() => onToggle(one.name)}
        onKeyDown=${(event) => event.key === 'Enter' && onToggle(one.name)}
      >▾ ${one.name}</text>
    </g>`,
  );

const Edges = ({ edges }) =>
  edges.map(
    (one) => html`<path
      key=${one.key}
      class=${one.cross ? 'edge cross' : 'edge'}
      d=${`M${one.points.map(({ x, y }) => `${x},${y}`).join('L')}`}
      marker-end="none"
    ></path>`,
  );

/** A task, or the tasks of a closed group: the shares of its instances by status below the name. */
function Box({ box, counts, isFound, onClick }) {
  const look = counts === undefined ? 'absent' : worst(counts);
  const all = sum(counts);
  const text = `${box.name}: ${box.isGroup ? `${count(box.tasks.length, 'task')}, ` : ''}${
    counts === undefined
      ? 'on no node'
      : TASK_STATUSES.filter((status) => counts[status] > 0)
          .map((status) => `${counts[status]} ${said(status)}`)
          .join(', ')
  }`;
  let at = 8;
  const bar = box.width - 16;
  const shares = TASK_STATUSES.filter((status) => counts?.[status] > 0).map((status) => {
    const width = (bar * counts[status]) / all;
    const part = { status, x: at, width };
    at += width;
    return part;
  });
  return html`<g
    class=${`node is-${look} ${box.isGroup ? 'group' : ''} ${isFound ? 'is-found' : ''}`}
    data-task=${box.isGroup ? undefined : box.name}
    data-group=${box.isGroup ? box.name : undefined}
    transform=${`translate(${box.x - box.width / 2},${box.y - HEIGHT / 2})`}
    role="button"
    tabindex="0"
    aria-label=${text}
    aria-expanded=${box.isGroup ? 'false' : undefined}
    onClick=${onClick}
    onKeyDown=${(event) => event.key === 'Enter' && onClick()}
  >
    <title>${text}</title>
    <rect class="box" width=${box.width} height=${HEIGHT} rx=${box.isGroup ? 4 : 12}></rect>
    <text x="10" y="19">${box.isGroup ? `▸ ${shortened(box.name)} (${box.tasks.length})` : shortened(box.name)}</text>
    ${shares.map((part) => html`<rect key=${part.status} class=${`share is-${part.status}`} x=${part.x} y="27" width=${part.width} height="7"></rect>`)}
  </g>`;
}

const shortened = (name) => (name.length > 38 ? `${name.slice(0, 37)}…` : name);

/** Where boxes and edges lie. */
function placed({ boxes, edges }) {
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
    .filter((key) => key.startsWith('frame:'))
    .map((key) => {
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
