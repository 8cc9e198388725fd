import { expect, it } from 'vitest';
import type { Drawer } from '../../../src/api/page/drawing.ts';
import { Pictures } from '../../../src/api/page/pictures.ts';

const SVG = new TextEncoder().encode('<svg/>');

/** Draws when the test tells it to. */
function heldDrawer() {
  const asked: { dot: string; signal?: AbortSignal; resolve(svg: Uint8Array): void; reject(error: Error): void }[] = [];
  const drawer: Drawer = {
    draw: ({ dot }, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ dot, ...(signal && { signal }), resolve, reject });
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      }),
    close: async () => undefined,
  };
  return { drawer, asked };
}

it('a drawing is made once, however many request it, also meanwhile', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const both = [pictures.draw({ dot: 'digraph { a }', as: 'svg' }), pictures.draw({ dot: 'digraph { a }', as: 'svg' })];
  expect(asked).toHaveLength(1);
  asked[0]!.resolve(SVG);
  expect(await Promise.all([...both, pictures.draw({ dot: 'digraph { a }', as: 'svg' })])).toEqual([SVG, SVG, SVG]);
  expect(asked).toHaveLength(1);
});

it('the places of a drawing are not its picture', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  void pictures.draw({ dot: 'digraph { a }', as: 'svg' });
  void pictures.draw({ dot: 'digraph { a }', as: 'places' });
  expect(asked).toHaveLength(2);
});

it('a picture that failed is drawn again for the next request', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const first = pictures.draw({ dot: 'digraph { a }', as: 'svg' });
  asked[0]!.reject(new Error('the drawing thread ended with 1'));
  await expect(first).rejects.toThrow('ended with 1');
  const second = pictures.draw({ dot: 'digraph { a }', as: 'svg' });
  asked[1]!.resolve(SVG);
  expect(await second).toBe(SVG);
});

it('the least recently used picture is dropped', async () => {
  const drawn: string[] = [];
  const pictures = new Pictures({
    draw: async ({ dot }) => {
      drawn.push(dot);
      return new TextEncoder().encode(dot);
    },
    close: async () => undefined,
  });
  for (let at = 0; at < 24; at++) await pictures.draw({ dot: `g${at}`, as: 'svg' });
  await pictures.draw({ dot: 'g0', as: 'svg' });
  await pictures.draw({ dot: 'one more', as: 'svg' });
  await pictures.draw({ dot: 'g0', as: 'svg' });
  expect(drawn).toHaveLength(25);
  await pictures.draw({ dot: 'g1', as: 'svg' });
  expect(drawn).toHaveLength(26);
});

it('cached pictures have a limit of bytes: the oldest make room for a large one', async () => {
  const drawn: string[] = [];
  const pictures = new Pictures({
    draw: async ({ dot }) => {
      drawn.push(dot);
      return new Uint8Array(dot.startsWith('large') ? 20_000_000 : 100);
    },
    close: async () => undefined,
  });
  for (const dot of ['small', 'large 1', 'large 2', 'large 2']) await pictures.draw({ dot, as: 'svg' });
  expect(drawn).toEqual(['small', 'large 1', 'large 2']);
  await pictures.draw({ dot: 'large 1', as: 'svg' });
  expect(drawn).toHaveLength(4);
});

it('a drawing is aborted when all its clients have disconnected, and restarted for the next', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const [one, other] = [new AbortController(), new AbortController()];
  const both = [one, other].map(({ signal }) =>
    pictures.draw({ dot: 'digraph { a }', as: 'svg' }, signal).catch(() => 'ended'),
  );
  one.abort();
  expect(asked[0]!.signal?.aborted).toBe(false);
  other.abort();
  expect(asked[0]!.signal?.aborted).toBe(true);
  expect(await Promise.all(both)).toEqual(['ended', 'ended']);
  const again = pictures.draw({ dot: 'digraph { a }', as: 'svg' }, new AbortController().signal);
  expect(asked).toHaveLength(2);
  asked[1]!.resolve(SVG);
  expect(await again).toBe(SVG);
});
