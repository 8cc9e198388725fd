import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Drawer, openDrawer } from '../../../src/api/page/drawing.js';
import { renderSvg } from '../../../src/graph/pictures/render-svg.js';

const open: Drawer[] = [];
const drawer = () => {
  const one = openDrawer();
  open.push(one);
  return one;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A graph whose layout takes a while. */
const dense = (size: number) =>
  `digraph G { ${Array.from({ length: size }, (_, at) =>
    [1, 3, 7].map((step) => `n${at} -> n${(at * 5 + step) % size};`).join(' '),
  ).join(' ')} }`;

describe('a drawer', () => {
  it('draws what the caller would draw, and continues after what is not DOT', async () => {
    const own = drawer();
    const dot = 'digraph G { "a-b"; c; "a-b" -> c; }';
    const [first, refused, second] = await Promise.allSettled([own.svg(dot), own.svg('digraph {'), own.svg(dot)]);
    const here = await renderSvg(dot);
    expect(first).toEqual({ status: 'fulfilled', value: here });
    expect(second).toEqual({ status: 'fulfilled', value: here });
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/Graphviz cannot draw this: syntax error/) },
    });
  });

  it('leaves its caller free meanwhile', async () => {
    const own = drawer();
    await own.svg('digraph { a }');
    let drawn = false;
    const picture = own.svg(dense(40)).then((svg) => {
      drawn = true;
      return svg;
    });
    let turns = 0;
    while (!drawn) {
      await turn();
      turns++;
    }
    // Drawn here, it would have been ready before the second turn of this thread.
    expect(turns).toBeGreaterThan(100);
    expect((await picture).match(/class="node"/g)).toHaveLength(40);
  });

  it('rejects what waits when it is closed, and draws no more', async () => {
    const own = drawer();
    const waiting = [own.svg(dense(60)), own.svg('digraph { a }')].map((one) =>
      expect(one).rejects.toThrow(/process is ending/),
    );
    await own.close();
    await Promise.all(waiting);
    await expect(own.svg('digraph { a }')).rejects.toThrow(/ending/);
  });
});
