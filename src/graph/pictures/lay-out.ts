import { graphviz, refused } from './graphviz.ts';

/** Of a box or a frame: its upper left corner and its size, in pixels. */
interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Point = readonly [x: number, y: number];

/** Where everything of a drawing lies, from the upper left. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** By name. */
  readonly nodes: Readonly<Record<string, Area>>;
  /** Of clusters, by name. */
  readonly frames: Readonly<Record<string, Area>>;
  /** By `id`: a start, and three points of a cubic Bézier curve for each step. */
  readonly edges: Readonly<Record<string, readonly Point[]>>;
}

/** What we read of Graphviz' own format; numbers are in points and inches, and up is positive. */
interface Laid {
  readonly bb: string;
  readonly objects?: readonly { name: string; bb?: string; pos?: string; width?: string; height?: string }[];
  readonly edges?: readonly { id: string; pos: string }[];
}

/**
 * Lays a graph in the DOT language out, without drawing it.
 *
 * @throws Error with Graphviz' message when the text is not valid DOT
 */
export async function layOut(dot: string): Promise<Layout> {
  const result = await graphviz(dot, 'json0');
  if (result.status !== 'success') throw refused(result.errors);
  const { bb, objects = [], edges = [] } = JSON.parse(result.output) as Laid;
  const [, , width = 0, height = 0] = numbersIn(bb);
  const nodes: Record<string, Area> = {};
  const frames: Record<string, Area> = {};
  for (const one of objects) {
    if (one.pos !== undefined) {
      const [x = 0, y = 0] = numbersIn(one.pos);
      const [w, h] = [Number(one.width) * 72, Number(one.height) * 72];
      nodes[one.name] = { x: x - w / 2, y: height - y - h / 2, width: w, height: h };
    } else if (one.bb !== undefined) {
      const [left = 0, bottom = 0, right = 0, top = 0] = numbersIn(one.bb);
      frames[one.name] = { x: left, y: height - top, width: right - left, height: top - bottom };
    }
  }
  const pathOf = (pos: string): Point[] =>
    pos
      .split(' ')
      // The tip of an arrow is no part of the curve.
      .filter((point) => !point.startsWith('e,') && !point.startsWith('s,'))
      .map((point) => {
        const [x = 0, y = 0] = numbersIn(point);
        return [x, height - y];
      });
  return { width, height, nodes, frames, edges: Object.fromEntries(edges.map(({ id, pos }) => [id, pathOf(pos)])) };
}

const numbersIn = (text: string): number[] => text.split(',').map(Number);
