import { useEffect, useState } from 'preact/hooks';
import { html } from '../html.js';
import { lookOf, said, timeOf } from '../words.js';

const ROWS = 60;

/**
 * Bars in time, a row for each node; also while they still run. `rows`: `{row, name?, label, status, from, to}`, `from`
 * null for what has not begun.
 */
export function Timeline({ rows, from, until, zoomable = true, heading = 'Timeline' }) {
  const [page, setPage] = useState(0);
  const [zoom, setZoom] = useState(1);
  const now = useNow(until === null || until === undefined);
  const begun = rows.filter((one) => one.from !== null);
  if (begun.length === 0) return null;
  const start = Math.min(new Date(from), ...begun.map((one) => new Date(one.from)));
  const end = Math.max(start + 1000, ...begun.map((one) => new Date(one.to ?? until ?? now)));
  const names = [...new Set(begun.map((one) => one.row))];
  const shown = names.slice(page * ROWS, (page + 1) * ROWS);
  const at = (time) => (100 * (new Date(time) - start)) / (end - start);
  return html`<h2>${heading}</h2>
    <div class="filters">
      <span class="quiet">${timeOf(start)} – ${timeOf(end)}</span>
      ${
        zoomable &&
        html`<button type="button" aria-label="Zoom out" disabled=${zoom === 1} onClick=${() => setZoom(zoom / 2)}>−</button>
        <button type="button" aria-label="Zoom in" disabled=${zoom >= 64} onClick=${() => setZoom(zoom * 2)}>+</button>`
      }
      ${
        names.length > ROWS &&
        html`<button type="button" disabled=${page === 0} onClick=${() => setPage(page - 1)}>Before</button>
        <span class="quiet">${page * ROWS + 1}–${Math.min((page + 1) * ROWS, names.length)} of ${names.length} nodes</span>
        <button type="button" disabled=${(page + 1) * ROWS >= names.length} onClick=${() => setPage(page + 1)}>After</button>`
      }
    </div>
    <div class="timeline" role="region" aria-label=${heading} tabindex="0">
      <div class="rows" style=${{ width: `${100 * zoom}%` }}>
        ${shown.map(
          (name) => html`<div class="line" key=${name}>
            <span class="name">${begun.find((one) => one.row === name).name ?? name}</span>
            <div class="track" role="list" aria-label=${`Node ${name}`}>
              ${begun
                .filter((one) => one.row === name)
                .map((one) => {
                  const [left, right] = [at(one.from), at(one.to ?? until ?? now)];
                  const text = `${one.label}: ${said(one.status)}, ${timeOf(one.from)} – ${one.to ? timeOf(one.to) : 'now'}`;
                  return html`<span
                    key=${one.label}
                    role="listitem"
                    class=${`span ${lookOf(one.status)}`}
                    style=${{ left: `${left}%`, width: `${Math.max(right - left, 0.15)}%` }}
                    title=${text}
                    aria-label=${text}
                  ></span>`;
                })}
            </div>
          </div>`,
        )}
      </div>
    </div>`;
}

/** This moment, which passes while something still runs. */
function useNow(passes) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!passes) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 2_000);
    return () => clearInterval(timer);
  }, [passes]);
  return now;
}
