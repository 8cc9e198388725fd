import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { request } from '../api.js';
import { html } from '../html.js';
import { Problem } from '../parts.js';
import { problemOf } from '../store.js';
import { said } from '../words.js';

const MIN = 0.05;
const MAX = 4;

/** Looks of a drawing's own nodes, by the colour in the DOT source. */
const KINDS = { red: 'stage', lightskyblue: 'group', yellowgreen: 'task', none: 'skipped' };

/** States in the order in which they matter: a picture opens at the first that is there. */
const LOOKS = [
  'failed',
  'blocked',
  'retrying',
  'running',
  'started',
  'waiting',
  'success',
  'ignored',
  'skipped',
  'absent',
];
const SAID = { started: 'partly done', absent: 'on no node' };

/**
 * A graph as the server drew it, once; states only change the looks of its nodes. `states`: by the name of the task
 * `{look, text}`; without them kinds of tasks have their looks.
 */
export function GraphPicture({ path, states, onChoose }) {
  const box = useRef(null);
  const [problem, setProblem] = useState(undefined);
  const [drawn, setDrawn] = useState(null);
  const [scale, setScale] = useState(1);
  const [asked, ask] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setProblem(undefined);
    draw(path, stop.signal, onChoose !== undefined)
      .then((picture) => {
        box.current.replaceChildren(picture.svg);
        setDrawn(picture);
      })
      .catch((error) => stop.signal.aborted || setProblem(problemOf(error)));
    return () => stop.abort();
  }, [path, asked]);
  const isLive = states !== undefined;
  useEffect(() => {
    if (!isLive || drawn === null) return;
    for (const [task, node] of drawn.nodes) paint(node, task, states.get(task));
  }, [states, drawn]);
  useEffect(() => {
    if (drawn === null) return;
    // Content that fits is shown whole; otherwise the focused part.
    setScale(scaleToFit(box.current, drawn) > 0.6 ? Math.min(1, scaleToFit(box.current, drawn)) : 1);
    const first = LOOKS.slice(0, 5).map((look) => box.current.querySelector(`.is-${look}`));
    const target = first.find((one) => one !== null) ?? [...drawn.nodes.values()][0];
    if (target !== undefined) requestAnimationFrame(() => centre(box.current, target));
  }, [drawn]);
  useEffect(() => {
    if (drawn === null) return;
    drawn.svg.setAttribute('width', drawn.width * scale);
    drawn.svg.setAttribute('height', drawn.height * scale);
  }, [drawn, scale]);
  const choose = (event) => {
    const node = event.target.closest?.('g.node');
    if (!node || onChoose === undefined || (event.type === 'keydown' && event.key !== 'Enter')) return;
    onChoose(node.dataset.task);
  };
  const show = (node) => {
    for (const other of drawn.nodes.values()) other.classList.toggle('is-found', other === node);
    setScale((before) => Math.max(before, 1));
    requestAnimationFrame(() => centre(box.current, node));
  };
  return html`<${Problem} of=${problem} onRetry=${() => ask(asked + 1)} />
    ${drawn === null && problem === undefined && html`<p class="quiet" role="status">The graph is being drawn …</p>`}
    ${drawn !== null && html`<${Tools} ...${{ drawn, scale, setScale, show, states, path, box }} />`}
    <div class=${isLive ? 'picture live' : 'picture plain'} ref=${box} role="region" aria-label="Graph" tabindex="0" onClick=${choose} onKeyDown=${choose}></div>`;
}

function Tools({ drawn, scale, setScale, show, states, path, box }) {
  const id = useId();
  const looks = useMemo(() => {
    const present = new Set([...drawn.nodes.keys()].map((task) => states?.get(task)?.look ?? 'absent'));
    return LOOKS.filter((look) => present.has(look));
  }, [drawn, states]);
  const find = (event) => {
    const node = drawn.nodes.get(event.target.value);
    if (node !== undefined) show(node);
  };
  return html`<div class="filters">
    <label class="field"><span>Find a task</span>
      <input type="search" list=${id} onInput=${find} autocomplete="off" />
      <datalist id=${id}>${[...drawn.nodes.keys()].sort().map((task) => html`<option key=${task} value=${task}></option>`)}</datalist>
    </label>
    <span class="actions">
      <button type="button" aria-label="Zoom out" disabled=${scale <= MIN} onClick=${() => setScale(Math.max(MIN, scale / 1.4))}>−</button>
      <button type="button" onClick=${() => setScale(scaleToFit(box.current, drawn))}>Fit</button>
      <button type="button" onClick=${() => setScale(1)}>100 %</button>
      <button type="button" aria-label="Zoom in" disabled=${scale >= MAX} onClick=${() => setScale(Math.min(MAX, scale * 1.4))}>+</button>
    </span>
    <ul class="legend" aria-label="Colours">
      ${
        states === undefined
          ? drawn.kinds.map((kind) => html`<li key=${kind}><span class=${`swatch kind-${kind}`}></span>${kind}</li>`)
          : looks.map(
              (look) =>
                html`<li key=${look}><span class=${`swatch is-${look}`}></span>${SAID[look] ?? said(look)}</li>`,
            )
      }
    </ul>
    <a href=${path} download="graph.svg">Download the drawing</a>
  </div>`;
}

/** Scrolls the picture, not the page. */
function centre(box, node) {
  const [inner, outer] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

const scaleToFit = (box, { width, height }) =>
  Math.max(MIN, Math.min((box.clientWidth - 24) / width, (0.7 * innerHeight) / height, 1.5));

/** The drawing, in which nodes may be chosen; its nodes by name, its size in pixels, and the kinds of its nodes. */
async function draw(path, signal, isChosenFrom) {
  const text = await (await request(path, { signal, accept: 'image/svg+xml' })).text();
  const svg = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
  const nodes = new Map();
  const kinds = new Set();
  for (const node of svg.querySelectorAll('g.node')) {
    const title = node.querySelector('title');
    const kind = KINDS[node.querySelector('ellipse, polygon, path')?.getAttribute('fill')] ?? 'other';
    kinds.add(kind);
    nodes.set(title.textContent, node);
    node.dataset.task = title.textContent;
    node.setAttribute('class', `node kind-${kind}`);
    node.setAttribute('role', isChosenFrom ? 'button' : 'img');
    if (isChosenFrom) node.setAttribute('tabindex', '0');
    node.setAttribute('aria-label', title.textContent);
  }
  svg.setAttribute('role', 'group');
  const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
  return { svg, nodes, kinds: [...kinds], width, height };
}

function paint(node, task, state) {
  const look = state?.look ?? 'absent';
  if (node.dataset.look === look && node.dataset.said === state?.text) return;
  node.classList.remove(`is-${node.dataset.look}`);
  node.classList.add(`is-${look}`);
  node.dataset.look = look;
  node.dataset.said = state?.text ?? '';
  const text = state === undefined ? `${task}: on no node` : `${task}: ${state.text}`;
  node.setAttribute('aria-label', text);
  node.querySelector('title').textContent = text;
}
