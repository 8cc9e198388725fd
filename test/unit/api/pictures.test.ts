import { expect, it } from 'vitest';
import type { Drawer } from '../../../src/api/page/drawing.ts';
import { Pictures } from '../../../src/api/page/pictures.ts';

const SVG = new TextEncoder().encode('<svg/>');

/** Draws when the test tells it to. */
function heldDrawer() {
  const asked: { dot: string; signal?: AbortSignal; resolve(svg: Uint8Array): void; reject(error: Error): void }[] = [];
  const drawer: Drawer = {
    svg: (dot, signal) =>
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
  const both = [pictures.svg('digraph { a }'), pictures.svg('digraph { a }')];
  expect(asked).toHaveLength(1);
  asked[0]!.resolve(SVG);
  expect(await Promise.all([...both, pictures.svg('digraph { a }')])).toEqual([SVG, SVG, SVG]);
  expect(asked).toHaveLength(1);
});

it('a picture that failed is drawn again for the next request', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const first = pictures.svg('digraph { a }');
  asked[0]!.reject(new Error('the drawing thread ended with 1'));
  await expect(first).rejects.toThrow('ended with 1');
  const second = pictures.svg('digraph { a }');
  asked[1]!.resolve(SVG);
  expect(await second).toBe(SVG);
});

it('the least recently used picture is dropped', async () => {
  const drawn: string[] = [];
  const pictures = new Pictures({
    svg: async (dot) => {
      drawn.push(dot);
      return new TextEncoder().encode(dot);
    },
    close: async () => undefined,
  });
  for (let at = 0; at < 24; at++) await pictures.svg(`g${at}`);
  await pictures.svg('g0');
  await pictures.svg('one more');
  await pictures.svg('g0');
  expect(drawn).toHaveLength(25);
  await pictures.svg('g1');
  expect(drawn).toHaveLength(26);
});

it('cached pictures have a limit of bytes: the oldest make room for a large one', async () => {
  const drawn: string[] = [];
  const pictures = new Pictures({
    svg: async (dot) => {
      drawn.push(dot);
      return new Uint8Array(dot.startsWith('large') ? 20_000_000 : 100);
    },
    close: async () => undefined,
  });
  for (const dot of ['small', 'large 1', 'large 2', 'large 2']) await pictures.svg(dot);
  expect(drawn).toEqual(['small', 'large 1', 'large 2']);
  await pictures.svg('large 1');
  expect(drawn).toHaveLength(4);
});

it('a drawing is aborted when all its clients have disconnected, and restarted for the next', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const [one, other] = [new AbortController(), new AbortController()];
  const both = [one, other].map(({ signal }) => pictures.svg('digraph { a }', signal).catch(() => 'ended'));
  one.abort();
  expect(asked[0]!.signal?.aborted).toBe(false);
  other.abort();
  expect(asked[0]!.signal?.aborted).toBe(true);
  expect(await Promise.all(both)).toEqual(['ended', 'ended']);
  const again = pictures.svg('digraph { a }', new AbortController().signal);
  expect(asked).toHaveLength(2);
  asked[1]!.resolve(SVG);
  expect(await again).toBe(SVG);
});
