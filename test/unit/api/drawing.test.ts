import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Drawer, openDrawer } from '../../../src/api/page/drawing.ts';
import { layOut } from '../../../src/graph/pictures/lay-out.ts';
import { renderSvg } from '../../../src/graph/pictures/render-svg.ts';

/** A picture as text. */
const svgOf = async (drawer: Drawer, dot: string, signal?: AbortSignal): Promise<string> =>
  new TextDecoder().decode(await drawer.draw({ dot, as: 'svg' }, signal));

const open: Drawer[] = [];
const drawer = (workMs?: number) => {
  const one = openDrawer(workMs);
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
  it('draws the same as its caller, and continues after invalid DOT', async () => {
    const own = drawer();
    const dot = 'digraph G { "a-b"; c; "a-b" -> c; }';
    const [first, refused, second] = await Promise.allSettled([
      svgOf(own, dot),
      svgOf(own, 'digraph {'),
      svgOf(own, dot),
    ]);
    const here = await renderSvg(dot);
    expect(first).toEqual({ status: 'fulfilled', value: here });
    expect(second).toEqual({ status: 'fulfilled', value: here });
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/syntax error/) },
    });
  });

  it('lays out the same as its caller', async () => {
    const dot = 'digraph G { a [id=1]; a -> b [id=2]; }';
    const places = new TextDecoder().decode(await drawer().draw({ dot, as: 'places' }));
    expect(JSON.parse(places)).toEqual(await layOut(dot));
  });

  it('does not block its caller', async () => {
    const own = drawer();
    await svgOf(own, 'digraph { a }');
    let drawn = false;
    const picture = svgOf(own, dense(40)).then((svg) => {
      drawn = true;
      return svg;
    });
    let turns = 0;
    while (!drawn) {
      // Not all the time: the thread yields to this one.
      await delay(1);
      turns++;
    }
    // Drawn here, it would have been ready before the second turn of this thread.
    expect(turns).toBeGreaterThan(5);
    expect((await picture).match(/class="node"/g)).toHaveLength(40);
  });

  it('aborts a graph that takes too long, or that nobody waits for, and draws the next', async () => {
    const own = drawer(300);
    await svgOf(own, 'digraph { a }');
    await expect(svgOf(own, dense(4_000))).rejects.toMatchObject({ problem: { code: 'invalid' } });
    const gone = new AbortController();
    const left = svgOf(own, dense(4_001), gone.signal);
    gone.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(await svgOf(own, 'digraph { b }')).toContain('<svg');
  });

  it('draws small pictures without waiting for a large one', async () => {
    const own = drawer();
    const gone = new AbortController();
    const large = svgOf(own, dense(3_000), gone.signal);
    expect(await svgOf(own, 'digraph { a }')).toContain('<svg');
    gone.abort(new Error('enough'));
    await expect(large).rejects.toThrow('enough');
  });

  it('rejects waiting requests when it is closed, and draws no more', async () => {
    const own = drawer();
    const waiting = [svgOf(own, dense(60)), svgOf(own, 'digraph { a }')].map((one) =>
      expect(one).rejects.toThrow(/process is ending/),
    );
    await own.close();
    await Promise.all(waiting);
    await expect(svgOf(own, 'digraph { a }')).rejects.toThrow(/ending/);
  });
});
