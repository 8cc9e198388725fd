// Which tasks made a run as long as it was.

/**
 * The chain of tasks that each waited for the one before it, up to the one that ended last. `rows`: `{task, node, from,
 * to}` of ended tasks; `edges`: `[from, to, cross]` between names of tasks, `cross` between nodes. The rows in order,
 * with the wait before each in milliseconds.
 */
export function criticalPath(rows, edges) {
  const ended = rows
    .filter(({ from, to }) => from && to)
    .map((row) => ({ ...row, row, begin: Date.parse(row.from), end: Date.parse(row.to) }));
  const before = new Map();
  for (const [from, to, cross] of edges) before.set(to, [...(before.get(to) ?? []), { from, cross }]);
  const byTask = new Map();
  for (const row of ended) byTask.set(row.task, [...(byTask.get(row.task) ?? []), row]);
  const path = [];
  const seen = new Set();
  let one = latest(ended);
  while (one !== undefined && !seen.has(one)) {
    seen.add(one);
    const { begin, node } = one;
    const earlier = (before.get(one.task) ?? []).flatMap(({ from, cross }) =>
      (byTask.get(from) ?? []).filter((other) => (cross || other.node === node) && other.end <= begin + SLACK),
    );
    const cause = latest(earlier);
    path.unshift({
      row: one.row,
      wait: cause === undefined ? 0 : Math.max(0, begin - cause.end),
    });
    one = cause;
  }
  return path;
}

/** Clocks of a node and the server may differ by so much. */
const SLACK = 1_000;

const latest = (rows) => rows.reduce((best, row) => (best === undefined || row.end > best.end ? row : best), undefined);
