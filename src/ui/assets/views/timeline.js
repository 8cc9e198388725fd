import { useRef, useState } from 'preact/hooks';
import { shownMoment } from '../clock.js';
import { html } from '../html.js';
import { count, lookOf, said, timeOf } from '../words.js';

const ROWS = 60;
/** The shortest time that fills the width. */
const MIN_MS = 1_000;
const DRAG_PX = 6;
const KEYS = { ArrowLeft: -0.25, ArrowRight: 0.25 };

/** Room for the time at a tick. */
const TICK_PX = 150;

/** Steps of the axis, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/**
 * Bars in time, a row for each node; also while they still run. Dragging over it zooms to that time. `rows`: `{row, name?,
 * label, status, from, to, href?, isCritical?}`, `from` is null for unstarted ones.
 */
export function Timeline({ rows, from, until }) {
  const [page, setPage] = useState(0);
  const [range, setRange] = useState(undefined);
  const [dragged, setDragged] = useState(undefined);
  const track = useRef(null);
  const started = rows.filter((one) => one.from !== null);
  if (started.length === 0) return html`<p class="quiet">Nothing has started yet.</p>`;
  const last = until ?? shownMoment.value;
  let first = new Date(from).getTime();
  let latest = first + 1000;
  const lines = new Map();
  for (const one of started) {
    const bar = { ...one, begin: new Date(one.from).getTime(), end: new Date(one.to ?? last).getTime() };
    first = Math.min(first, bar.begin);
    latest = Math.max(latest, bar.end);
    if (!lines.has(one.row)) lines.set(one.row, { name: one.name ?? one.row, bars: [] });
    lines.get(one.row).bars.push(bar);
  }
  const [start, end] = range ?? [first, latest];
  const all = [...lines];
  const shown = all.slice(page * ROWS, (page + 1) * ROWS);
  const at = (time) => (100 * (time - start)) / (end - start);
  const ticks = ticksOf(start, end, Math.max(2, Math.floor(innerWidth / TICK_PX))).filter(
    // The last one would have no room for its text.
    (tick) => at(tick.at) < 96,
  );
  /** Moves to another range of time, within the limits and not below the minimum. */
  const look = (from_, to) => {
    const length = Math.max(MIN_MS, Math.min(to - from_, latest - first));
    const begin = Math.max(first, Math.min(from_, latest - length));
    setRange(length >= latest - first ? undefined : [begin, begin + length]);
  };
  const zoom = (by) => {
    const [middle, half] = [(start + end) / 2, ((end - start) * by) / 2];
    look(middle - half, middle + half);
  };
  const move = (by) => look(start + (end - start) * by, end + (end - start) * by);
  const timeAt = (event) => {
    const { left, width } = track.current.getBoundingClientRect();
    return start + ((end - start) * Math.max(0, Math.min(width, event.clientX - left))) / width;
  };
  const drag = {
    onPointerDown: (event) => {
      if (event.button === 0 && track.current !== null && event.clientX > track.current.getBoundingClientRect().left)
        setDragged({ from: timeAt(event), to: timeAt(event), x: event.clientX });
    },
    onPointerMove: (event) => dragged && setDragged({ ...dragged, to: timeAt(event) }),
    onPointerUp: (event) => {
      if (dragged === undefined) return;
      setDragged(undefined);
      // Less is a click on a bar.
      if (Math.abs(event.clientX - dragged.x) > DRAG_PX) look(...[dragged.from, timeAt(event)].sort((a, b) => a - b));
    },
    onPointerLeave: () => setDragged(undefined),
    onDragStart: (event) => event.preventDefault(),
    onKeyDown: ({ key }) => KEYS[key] !== undefined && range !== undefined && move(KEYS[key]),
  };
  const looks = [...new Set(started.map((one) => one.status))];
  return html`<div class="filters">
      <span class="quiet">${timeOf(start)} – ${timeOf(end)}</span>
      <ul class="legend" aria-label="Colours">
        ${looks.map((status) => html`<li key=${status}><span class=${`swatch ${lookOf(status)}`}></span>${said(status)}</li>`)}
      </ul>
      <span class="actions">
        <button type="button" aria-label="Zoom out" disabled=${range === undefined} onClick=${() => zoom(2)}>−</button>
        <button type="button" aria-label="Zoom in" disabled=${end - start <= MIN_MS} onClick=${() => zoom(0.5)}>+</button>
        <button type="button" disabled=${range === undefined} onClick=${() => setRange(undefined)}>Reset zoom</button>
      </span>
      ${
        all.length > ROWS &&
        html`<span class="actions"><button type="button" disabled=${page === 0} onClick=${() => setPage(page - 1)}>Previous</button>
        <span class="quiet">${page * ROWS + 1}–${Math.min((page + 1) * ROWS, all.length)} of ${count(all.length, 'node')}</span>
        <button type="button" disabled=${(page + 1) * ROWS >= all.length} onClick=${() => setPage(page + 1)}>Next</button></span>`
      }
    </div>
    <div class="timeline" role="region" aria-label="Timeline" tabindex="0" ...${drag}>
      <div class="rows">
        <div class="line axis" aria-hidden="true">
          <span class="name"></span>
          <div class="track" ref=${track}>
            ${
              dragged !== undefined &&
              html`<span class="range" style=${{ left: `${at(Math.min(dragged.from, dragged.to))}%`, width: `${Math.abs(at(dragged.to) - at(dragged.from))}%` }}></span>`
            }
            ${ticks.map((tick) => html`<span key=${tick.at} class="tick" style=${{ left: `${at(tick.at)}%` }}>${tick.text}</span>`)}
          </div>
        </div>
        ${shown.map(
          ([row, { name, bars }]) => html`<div class="line" key=${row}>
            <span class="name" title=${name}>${name}</span>
            <div class="track" role="list" aria-label=${`Node ${name}`}>
              ${bars
                .filter((bar) => bar.end >= start && bar.begin <= end)
                .map(
                  (bar) =>
                    html`<${Bar} key=${bar.label} bar=${bar} left=${Math.max(0, at(bar.begin))} right=${Math.min(100, at(bar.end))} />`,
                )}
            </div>
          </div>`,
        )}
      </div>
    </div>`;
}

/** The table has the same links for the keyboard: a thousand bars would be too many tab stops. */
function Bar({ bar, left, right }) {
  const text = `${bar.label}: ${said(bar.status)}, ${timeOf(bar.from)} – ${bar.to ? timeOf(bar.to) : 'now'}`;
  const look = {
    class: `span ${lookOf(bar.status)}${bar.isCritical ? ' critical' : ''}`,
    style: { left: `${left}%`, width: `${Math.max(right - left, 0.15)}%` },
    title: text,
  };
  return html`<span role="listitem" aria-label=${text}>
    ${bar.href === undefined ? html`<span ...${look}></span>` : html`<a href=${bar.href} data-stay tabindex="-1" aria-hidden="true" ...${look}></a>`}
  </span>`;
}

/** About this many ticks between start and end, at round times. */
function ticksOf(start, end, wanted) {
  const seconds = (end - start) / 1000;
  const step = (STEPS.find((one) => seconds / one <= wanted) ?? 7 * 86_400) * 1000;
  const zone = new Date(start).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let at = Math.ceil((start - zone) / step) * step + zone; at <= end; at += step)
    ticks.push({ at, text: clockOf(at, step) });
  return ticks;
}

function clockOf(at, step) {
  if (step >= 86_400_000) return new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return new Date(at).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(step < 60_000 ? { second: '2-digit' } : {}),
  });
}
