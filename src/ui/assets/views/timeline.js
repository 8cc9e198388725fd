import { useState } from 'preact/hooks';
import { shownMoment } from '../clock.js';
import { html } from '../html.js';
import { lookOf, said, timeOf } from '../words.js';

const ROWS = 60;
const MOST_ZOOM = 64;

/** Room for the time at a tick. */
const TICK_PX = 150;

/** Steps of the axis, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/**
 * Bars in time, a row for each node; also while they still run. `rows`: `{row, name?, label, status, from, to, href?}`,
 * `from` is null for what has not started.
 */
export function Timeline({ rows, from, until }) {
  const [page, setPage] = useState(0);
  const [zoom, setZoom] = useState(1);
  const started = rows.filter((one) => one.from !== null);
  if (started.length === 0) return html`<p class="quiet">Nothing has started yet.</p>`;
  const last = until ?? shownMoment.value;
  let start = new Date(from).getTime();
  let end = start + 1000;
  const lines = new Map();
  for (const one of started) {
    const bar = { ...one, begin: new Date(one.from).getTime(), end: new Date(one.to ?? last).getTime() };
    start = Math.min(start, bar.begin);
    end = Math.max(end, bar.end);
    if (!lines.has(one.row)) lines.set(one.row, { name: one.name ?? one.row, bars: [] });
    lines.get(one.row).bars.push(bar);
  }
  const all = [...lines];
  const shown = all.slice(page * ROWS, (page + 1) * ROWS);
  const at = (time) => (100 * (time - start)) / (end - start);
  const ticks = ticksOf(start, end, Math.max(2, Math.floor(innerWidth / TICK_PX)) * zoom).filter(
    // The last one would have no room for its text.
    (tick) => at(tick.at) < 100 - 4 / zoom,
  );
  const looks = [...new Set(started.map((one) => one.status))];
  return html`<div class="filters">
      <span class="quiet">${timeOf(start)} – ${timeOf(end)}</span>
      <ul class="legend" aria-label="Colours">
        ${looks.map((status) => html`<li key=${status}><span class=${`swatch ${lookOf(status)}`}></span>${said(status)}</li>`)}
      </ul>
      <span class="actions">
        <button type="button" aria-label="Zoom out" disabled=${zoom === 1} onClick=${() => setZoom(zoom / 2)}>−</button>
        <button type="button" aria-label="Zoom in" disabled=${zoom >= MOST_ZOOM} onClick=${() => setZoom(zoom * 2)}>+</button>
      </span>
      ${
        all.length > ROWS &&
        html`<span class="actions"><button type="button" disabled=${page === 0} onClick=${() => setPage(page - 1)}>Before</button>
        <span class="quiet">${page * ROWS + 1}–${Math.min((page + 1) * ROWS, all.length)} of ${all.length} nodes</span>
        <button type="button" disabled=${(page + 1) * ROWS >= all.length} onClick=${() => setPage(page + 1)}>After</button></span>`
      }
    </div>
    <div class="timeline" role="region" aria-label="Timeline" tabindex="0">
      <div class="rows" style=${{ width: `${100 * zoom}%` }}>
        <div class="line axis" aria-hidden="true">
          <span class="name"></span>
          <div class="track">
            ${ticks.map((tick) => html`<span key=${tick.at} class="tick" style=${{ left: `${at(tick.at)}%` }}>${tick.text}</span>`)}
          </div>
        </div>
        ${shown.map(
          ([row, { name, bars }]) => html`<div class="line" key=${row}>
            <span class="name" title=${name}>${name}</span>
            <div class="track" role="list" aria-label=${`Node ${name}`}>
              ${bars.map((bar) => html`<${Bar} key=${bar.label} bar=${bar} left=${at(bar.begin)} right=${at(bar.end)} />`)}
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
    class: `span ${lookOf(bar.status)}`,
    style: { left: `${left}%`, width: `${Math.max(right - left, 0.15)}%` },
    title: text,
  };
  return html`<span role="listitem" aria-label=${text}>
    ${bar.href === undefined ? html`<span ...${look}></span>` : html`<a href=${bar.href} data-stay tabindex="-1" aria-hidden="true" ...${look}></a>`}
  </span>`;
}

/** About so many moments between start and end, at times that people say. */
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
