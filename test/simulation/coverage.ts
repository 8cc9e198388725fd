/** Worlds that seeds live in: each has people and faults of its own. */
export type World = 'site' | 'cluster';

/** How often what happened in which state, from `state × what`, by world. */
export type Reached = Readonly<Record<World, Readonly<Record<string, number>>>>;

const HEADS: Readonly<Record<World, string>> = { site: 'Runs of a site', cluster: 'Runs of graphs on a cluster' };

function tableOf(world: World, reached: Readonly<Record<string, number>>) {
  const cells = Object.entries(reached).map(([key, times]) => {
    const [state = '', what = ''] = key.split(' × ');
    return { state, what, times };
  });
  const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();
  const states = sorted(cells.map(({ state }) => state));
  const events = sorted(cells.map(({ what }) => what));
  const at = (state: string, what: string): number => reached[`${state} × ${what}`] ?? 0;
  return { head: HEADS[world], states, events, at, pairs: states.length * events.length, known: cells.length };
}

type Table = ReturnType<typeof tableOf>;

const tablesOf = (reached: Reached): Table[] =>
  (['site', 'cluster'] as const)
    .map((world) => tableOf(world, reached[world]))
    .filter(({ states }) => states.length > 0);

const countOf = (tables: readonly Table[]): string => {
  const sum = (what: 'known' | 'pairs') => tables.reduce((all, one) => all + one[what], 0);
  return `${sum('known')} of ${sum('pairs')} pairs`;
};

/** What happened when, a line a state, and what never did. */
export function coverageText(reached: Reached): string {
  const tables = tablesOf(reached);
  const lines = tables.flatMap(({ head, states, events, at }) => [
    `${head}:`,
    ...states.map((state) => {
      const known = events.filter((what) => at(state, what) > 0).map((what) => `${what} ${at(state, what)}`);
      const never = events.filter((what) => at(state, what) === 0);
      return `  ${state}: ${known.join(', ')}${never.length === 0 ? '' : `\n    never: ${never.join(', ')}`}`;
    }),
  ]);
  return [...lines, `${countOf(tables)} of state and event were reached`].join('\n');
}

/** The pairs that were not reached, by world and state: what later seeds are drawn towards (world/goal.ts). */
export function unreachedText(reached: Reached): string {
  const missing = (world: World): Record<string, string[]> => {
    const { states, events, at } = tableOf(world, reached[world]);
    const pairs = states.map((state) => [state, events.filter((what) => at(state, what) === 0)] as const);
    return Object.fromEntries(pairs.filter(([, never]) => never.length > 0));
  };
  return JSON.stringify({ site: missing('site'), cluster: missing('cluster') }, null, 2);
}

const CELL = 22;
const LEFT = 130;
const HEAD = 170;

/** The same as a picture: darker where it happened more often, a ring where it never did. */
export function coverageSvg(reached: Reached, seeds: number): string {
  const tables = tablesOf(reached);
  const most = Math.log1p(Math.max(...Object.values(reached).flatMap((world) => Object.values(world)), 1));
  const drawn: string[] = [];
  let top = 0;
  for (const table of tables) {
    drawn.push(...drawTable(table, top + HEAD, most));
    top += HEAD + table.states.length * CELL;
  }
  const width = LEFT + Math.max(...tables.map(({ events }) => events.length), 0) * CELL + 70;
  const height = top + 40;
  const note = `${countOf(tables)} of state (left) and event (above) reached in ${seeds} seeds; rings: never`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11" fill="#334155" role="img" aria-label="${note}">`,
    `<title>${note}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...drawn,
    `<text x="${LEFT}" y="${height - 14}">${note}</text>`,
    '</svg>\n',
  ].join('\n');
}

function drawTable({ head, states, events, at }: Table, top: number, most: number): string[] {
  const cells = states.flatMap((state, row) =>
    events.map((what, column) => {
      const [x, y, times] = [LEFT + column * CELL, top + row * CELL, at(state, what)];
      const title = `<title>${what} while ${state}: ${times}</title>`;
      return times === 0
        ? `<circle cx="${x + CELL / 2}" cy="${y + CELL / 2}" r="4" fill="none" stroke="#c2410c">${title}</circle>`
        : `<rect x="${x + 1}" y="${y + 1}" width="${CELL - 2}" height="${CELL - 2}" rx="3" fill="#1d4ed8" fill-opacity="${(0.12 + (0.88 * Math.log1p(times)) / most).toFixed(2)}">${title}</rect>`;
    }),
  );
  const rows = states.map(
    (state, row) => `<text x="${LEFT - 8}" y="${top + row * CELL + 15}" text-anchor="end">${state}</text>`,
  );
  const columns = events.map(
    (what, column) => `<text transform="translate(${LEFT + column * CELL + 14} ${top - 8}) rotate(-55)">${what}</text>`,
  );
  return [`<text x="8" y="${top - HEAD + 24}" font-weight="600">${head}</text>`, ...columns, ...rows, ...cells];
}
