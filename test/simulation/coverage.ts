/** How often what happened in which state, from `state × what`. */
function table(reached: Readonly<Record<string, number>>) {
  const cells = Object.entries(reached).map(([key, times]) => {
    const [state = '', what = ''] = key.split(' × ');
    return { state, what, times };
  });
  const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();
  const states = sorted(cells.map(({ state }) => state));
  const events = sorted(cells.map(({ what }) => what));
  const at = (state: string, what: string): number => reached[`${state} × ${what}`] ?? 0;
  const never = states.flatMap((state) =>
    events.filter((what) => at(state, what) === 0).map((what) => ({ state, what })),
  );
  return { states, events, at, never };
}

/** What happened when, a line a state, and what never did. */
export function coverageText(reached: Readonly<Record<string, number>>): string {
  const { states, events, at, never } = table(reached);
  const lines = states.map((state) => {
    const known = events.filter((what) => at(state, what) > 0).map((what) => `${what} ${at(state, what)}`);
    const missing = never.filter((one) => one.state === state).map(({ what }) => what);
    return `${state}: ${known.join(', ')}${missing.length === 0 ? '' : `\n    never: ${missing.join(', ')}`}`;
  });
  const all = states.length * events.length;
  return [...lines, `${all - never.length} of ${all} pairs of state and event were reached`].join('\n');
}

const CELL = 22;
const LEFT = 130;
const TOP = 150;

/** The same as a picture: darker where it happened more often, a ring where it never did. */
export function coverageSvg(reached: Readonly<Record<string, number>>, seeds: number): string {
  const { states, events, at, never } = table(reached);
  const most = Math.log1p(Math.max(...Object.values(reached), 1));
  const [width, height] = [LEFT + events.length * CELL + 60, TOP + states.length * CELL + 40];
  const cells = states.flatMap((state, row) =>
    events.map((what, column) => {
      const [x, y, times] = [LEFT + column * CELL, TOP + row * CELL, at(state, what)];
      const title = `<title>${what} while ${state}: ${times}</title>`;
      return times === 0
        ? `<circle cx="${x + CELL / 2}" cy="${y + CELL / 2}" r="4" fill="none" stroke="#c2410c">${title}</circle>`
        : `<rect x="${x + 1}" y="${y + 1}" width="${CELL - 2}" height="${CELL - 2}" rx="3" fill="#1d4ed8" fill-opacity="${(0.12 + (0.88 * Math.log1p(times)) / most).toFixed(2)}">${title}</rect>`;
    }),
  );
  const rows = states.map(
    (state, row) => `<text x="${LEFT - 8}" y="${TOP + row * CELL + 15}" text-anchor="end">${state}</text>`,
  );
  const columns = events.map(
    (what, column) => `<text transform="translate(${LEFT + column * CELL + 14} ${TOP - 8}) rotate(-55)">${what}</text>`,
  );
  const pairs = states.length * events.length;
  const note = `${pairs - never.length} of ${pairs} pairs of state (left) and event (above) reached in ${seeds} seeds; rings: never`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11" fill="#334155" role="img" aria-label="${note}">`,
    `<title>${note}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...columns,
    ...rows,
    ...cells,
    `<text x="${LEFT}" y="${height - 14}">${note}</text>`,
    '</svg>\n',
  ].join('\n');
}
