import { useEffect, useRef, useState } from 'preact/hooks';
import { request } from '../api.js';
import { html } from '../html.js';
import { Problem } from '../parts.js';
import { problemOf } from '../store.js';

/**
 * A graph as the server drew it, once; states only change the looks of its nodes. `states`: by the name of the task
 * `{look, text}`; without them the colours of the drawing stay.
 */
export function GraphPicture({ path, states, onChoose }) {
  const place = useRef(null);
  const [problem, setProblem] = useState(undefined);
  const [ready, setReady] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setProblem(undefined);
    draw(path, place.current, stop.signal)
      .then(() => setReady((n) => n + 1))
      .catch((error) => stop.signal.aborted || setProblem(problemOf(error)));
    return () => stop.abort();
  }, [path]);
  useEffect(() => {
    if (states === undefined || place.current === null) return;
    for (const node of place.current.querySelectorAll('g.node')) paint(node, states.get(node.dataset.task));
  }, [states, ready]);
  useEffect(() => {
    const box = place.current;
    if (onChoose === undefined || box === null) return undefined;
    const choose = (event) => {
      const node = event.target.closest?.('g.node');
      if (!node || (event.type === 'keydown' && event.key !== 'Enter')) return;
      onChoose(node.dataset.task);
    };
    box.addEventListener('click', choose);
    box.addEventListener('keydown', choose);
    return () => {
      box.removeEventListener('click', choose);
      box.removeEventListener('keydown', choose);
    };
  }, [onChoose]);
  return html`<${Problem} of=${problem} />
    <div class=${states === undefined ? 'picture' : 'picture live'} ref=${place} role="region" aria-label="Graph" tabindex="0"></div>
    <p class="quiet"><a href=${path} download="graph.svg">Download the drawing</a></p>`;
}

async function draw(path, place, signal) {
  const text = await (await request(path, { signal, accept: 'image/svg+xml' })).text();
  const svg = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
  for (const node of svg.querySelectorAll('g.node')) {
    const title = node.querySelector('title');
    node.dataset.task = title.textContent;
    node.setAttribute('tabindex', '0');
    node.setAttribute('role', 'button');
    node.setAttribute('aria-label', title.textContent);
  }
  svg.setAttribute('role', 'group');
  place.replaceChildren(svg);
}

function paint(node, state) {
  const look = state?.look ?? 'absent';
  if (node.dataset.look === look && node.dataset.said === state?.text) return;
  node.dataset.look = look;
  node.dataset.said = state?.text ?? '';
  node.setAttribute('class', `node is-${look}`);
  const text = state === undefined ? `${node.dataset.task}: on no node` : `${node.dataset.task}: ${state.text}`;
  node.setAttribute('aria-label', text);
  node.querySelector('title').textContent = text;
}
