import { expect, it } from 'vitest';
import { type ListedGraph, mapDot, mapGraph } from '../../../../src/graph/index.ts';
import { layOut } from '../../../../src/graph/pictures/lay-out.ts';

/** Layers of tasks, each after two of the layer before it. */
function layered(layers: number, wide: number): ListedGraph {
  const name = (layer: number, at: number) => `task-${layer}-${at % wide}`;
  const places = Array.from({ length: layers * wide }, (_, at) => [Math.floor(at / wide), at % wide] as const);
  return {
    tasks: places.map(([layer, at]) => ({ name: name(layer, at), type: 'shell', tags: [`role-${at % 5}`] })),
    edges: places.flatMap(([layer, at]): ListedGraph['edges'] =>
      layer === 0
        ? []
        : [
            [name(layer - 1, at), name(layer, at), false],
            [name(layer - 1, at + 1), name(layer, at), true],
          ],
    ),
  };
}

it('boxes lie from left to right without touching, in their frames, and edges lead from one to the other', async () => {
  const map = mapGraph(layered(3, 5), { by: 'tag', open: ['role-1'] });
  const { width, height, nodes, frames, edges } = await layOut(mapDot(map));
  const boxes = map.boxes.map((box, at) => ({ ...box, ...nodes[`b${at}`]! }));
  expect(boxes.map(({ name, isGroup }) => [name, isGroup])).toEqual(
    [
      ['role-0', true],
      ...[0, 1, 2].map((layer) => [`task-${layer}-1`, false]),
      ...[2, 3, 4].map((role) => [`role-${role}`, true]),
    ].sort(
      (a, b) => map.boxes.findIndex(({ name }) => name === a[0]) - map.boxes.findIndex(({ name }) => name === b[0]),
    ),
  );
  for (const { x, y, width: w, height: h } of boxes) {
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
    expect(x + w).toBeLessThanOrEqual(width);
    expect(y + h).toBeLessThanOrEqual(height);
  }
  const apart = (a: (typeof boxes)[number], b: (typeof boxes)[number]) =>
    a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  for (const one of boxes) for (const other of boxes) expect(one === other || apart(one, other)).toBe(true);
  const frame = frames.cluster_0!;
  for (const { parent, x, y } of boxes)
    if (parent === 'role-1') expect(x > frame.x && y > frame.y && x < frame.x + frame.width).toBe(true);
  const at = map.edges.findIndex(({ from, to }) => boxes[from]?.name === 'task-0-1' && boxes[to]?.name === 'task-1-1');
  const [[startX] = [0]] = edges[at]!;
  const [endX] = edges[at]!.at(-1)!;
  const [from, to] = [boxes[map.edges[at]!.from]!, boxes[map.edges[at]!.to]!];
  // Points are whole numbers, and boxes have a border.
  expect(Math.abs(startX - (from.x + from.width))).toBeLessThan(2);
  expect(Math.abs(endX - to.x)).toBeLessThan(2);
});

it('two thousand tasks are laid out within the time of a drawing', async () => {
  const map = mapGraph(layered(40, 50), { by: 'none' });
  const started = performance.now();
  expect(Object.keys((await layOut(mapDot(map))).nodes)).toHaveLength(2_000);
  expect(performance.now() - started).toBeLessThan(20_000);
});

it('refuses invalid DOT, with a message', async () => {
  await expect(layOut('digraph {')).rejects.toThrow(/syntax error/);
});
