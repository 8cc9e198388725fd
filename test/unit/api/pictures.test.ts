import { expect, it } from 'vitest';
import type { Drawer } from '../../../src/api/page/drawing.js';
import { Pictures } from '../../../src/api/page/pictures.js';

/** Draws when the test says so. */
function heldDrawer() {
  const asked: { dot: string; resolve(svg: string): void; reject(error: Error): void }[] = [];
  const drawer: Drawer = {
    svg: (dot) => new Promise((resolve, reject) => asked.push({ dot, resolve, reject })),
    close: async () => undefined,
  };
  return { drawer, asked };
}

it('a drawing is drawn once, however many ask, and also while it is drawn', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const both = [pictures.svg('digraph { a }'), pictures.svg('digraph { a }')];
  expect(asked).toHaveLength(1);
  asked[0]!.resolve('<svg/>');
  expect(await Promise.all([...both, pictures.svg('digraph { a }')])).toEqual(['<svg/>', '<svg/>', '<svg/>']);
  expect(asked).toHaveLength(1);
});

it('a picture that failed is drawn again for the next request', async () => {
  const { drawer, asked } = heldDrawer();
  const pictures = new Pictures(drawer);
  const first = pictures.svg('digraph { a }');
  asked[0]!.reject(new Error('the drawing thread ended with 1'));
  await expect(first).rejects.toThrow('ended with 1');
  const second = pictures.svg('digraph { a }');
  asked[1]!.resolve('<svg/>');
  expect(await second).toBe('<svg/>');
});

it('the picture that was longest not asked for makes room', async () => {
  const drawn: string[] = [];
  const pictures = new Pictures({
    svg: async (dot) => {
      drawn.push(dot);
      return dot;
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
