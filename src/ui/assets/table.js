// Tables: scrolled by themselves where the screen is narrow, drawn in part where they are long.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { html } from './html.js';

/** Above so many rows only those near the visible ones are in the document. */
const MANY = 200;
const ROW_PX = 36;

/**
 * `columns`: `[name, cell, class?]`. `selection`, of `useSelection`, puts a check mark before each row that `nameOf`
 * names; `isChoosable` leaves rows out.
 */
export function Table({ label, rows, empty = 'None.', ...rest }) {
  if (rows.length === 0) return typeof empty === 'string' ? html`<p class="quiet">${empty}</p>` : empty;
  return rows.length > MANY
    ? html`<${LongTable} ...${{ label, rows, ...rest }} />`
    : html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
        <table>
          <${Head} ...${rest} rows=${rows} />
          <tbody>
            ${rows.map((row) => html`<${Row} key=${rest.keyOf(row)} row=${row} ...${rest} />`)}
          </tbody>
        </table>
      </div>`;
}

function LongTable({ label, rows, ...rest }) {
  const box = useRef(null);
  const virtual = useVirtual(rows.length, box);
  const shown = virtual.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const width = rest.columns.length + (rest.selection === undefined ? 0 : 1);
  const space = (height) =>
    height > 0 &&
    html`<tr aria-hidden="true" class="space"><td colspan=${width} style=${{ height: `${height}px` }}></td></tr>`;
  return html`<div class="scroll long" tabindex="0" role="region" aria-label=${label} ref=${box}>
    <table aria-rowcount=${rows.length + 1}>
      <${Head} ...${rest} rows=${rows} />
      <tbody>
        ${space(before)}
        ${shown.map(
          ({ index }) =>
            html`<${Row} key=${rest.keyOf(rows[index])} row=${rows[index]} index=${index} measure=${virtual.measureElement} ...${rest} />`,
        )}
        ${space(after)}
      </tbody>
    </table>
  </div>`;
}

/** Which of so many rows are to be drawn. */
function useVirtual(count, box) {
  const [, redraw] = useState(0);
  const virtual = useMemo(
    () =>
      new Virtualizer({
        count,
        getScrollElement: () => box.current,
        estimateSize: () => ROW_PX,
        overscan: 12,
        initialRect: { width: 0, height: 700 },
        observeElementRect,
        observeElementOffset,
        scrollToFn: elementScroll,
        onChange: () => redraw((n) => n + 1),
      }),
    [],
  );
  virtual.setOptions({ ...virtual.options, count });
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}

const Head = ({ columns, rows, selection }) => html`<thead>
  <tr>
    ${selection && html`<td class="mark"><${MarkAll} rows=${rows} selection=${selection} /></td>`}
    ${columns.map(([name, , look]) =>
      name === ''
        ? html`<td key=${`${name}${look}`}></td>`
        : html`<th scope="col" key=${name} class=${look}>${name}</th>`,
    )}
  </tr>
</thead>`;

/** `index` and `measure`: of a row of a table that is drawn in part. */
function Row({ row, columns, selection, index, measure }) {
  return html`<tr ref=${measure} data-index=${index} aria-rowindex=${index === undefined ? undefined : index + 2}>
    ${selection && html`<td class="mark"><${Mark} row=${row} selection=${selection} /></td>`}
    ${columns.map(([name, cell, look]) => html`<td key=${`${name}${look}`} class=${look}>${cell(row)}</td>`)}
  </tr>`;
}

function Mark({ row, selection: { nameOf, keyOf, isChoosable, chosen, toggle } }) {
  if (!isChoosable(row)) return null;
  const key = keyOf(row);
  return html`<input
    type="checkbox"
    aria-label=${`Select ${nameOf(row)}`}
    checked=${chosen.has(key)}
    onChange=${() => toggle([key], !chosen.has(key))}
  />`;
}

function MarkAll({ rows, selection: { keyOf, isChoosable, chosen, toggle } }) {
  const keys = rows.filter(isChoosable).map(keyOf);
  const box = useRef(null);
  const some = keys.some((key) => chosen.has(key));
  const all = some && keys.every((key) => chosen.has(key));
  useEffect(() => {
    if (box.current) box.current.indeterminate = some && !all;
  }, [some, all]);
  if (keys.length === 0) return null;
  return html`<input ref=${box} type="checkbox" aria-label="Select all shown" checked=${all} onChange=${() => toggle(keys, !all)} />`;
}

/** Rows of a table that are chosen: pass it as `selection`; `rows` of those that are shown, `clear()` empties it. */
export function useSelection(rows, { keyOf, nameOf = keyOf, isChoosable = () => true }) {
  const [chosen, setChosen] = useState(new Set());
  const toggle = (keys, is) => {
    const next = new Set(chosen);
    for (const key of keys) is ? next.add(key) : next.delete(key);
    setChosen(next);
  };
  return {
    keyOf,
    nameOf,
    isChoosable,
    chosen,
    toggle,
    rows: rows.filter((row) => chosen.has(keyOf(row)) && isChoosable(row)),
    clear: () => setChosen(new Set()),
  };
}

/** Actions for the chosen rows; shown while any is chosen. */
export const Chosen = ({ selection, what, children }) =>
  selection.rows.length > 0 &&
  html`<div class="chosen" role="group" aria-label="Selection">
    <span>${selection.rows.length} ${what} selected</span>
    ${children}
    <button type="button" onClick=${selection.clear}>Clear selection</button>
  </div>`;

/**
 * Does the same for many, a few at a time, and reports the result, with reasons of refusals.
 * @throws Error when some were refused
 */
export async function forEach(items, nameOf, act) {
  const refused = [];
  const left = [...items];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      try {
        await act(one);
      } catch (error) {
        refused.push(`${nameOf(one)}: ${error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  if (refused.length > 0)
    throw new Error(
      `${items.length - refused.length} of ${items.length} done. Refused: ${refused.slice(0, 5).join('; ')}${refused.length > 5 ? ` and ${refused.length - 5} more` : ''}`,
    );
}
