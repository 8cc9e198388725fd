import { loadGraphviz } from '../../graph/pictures/graphviz.ts';
import { layOut } from '../../graph/pictures/lay-out.ts';
import { renderSvg } from '../../graph/pictures/render-svg.ts';
import { serveThread } from '../../platform/threads/serve-thread.ts';
import type { Drawing } from './drawing.ts';

// The program of the thread of `openDrawer`: Graphviz blocks its thread.
// As bytes: encoding a large picture would take the time of the thread that answers everyone.
serveThread(
  async () => {
    await loadGraphviz();
    return async ({ dot, as }: Drawing) =>
      new TextEncoder().encode(as === 'svg' ? await renderSvg(dot) : JSON.stringify(await layOut(dot)));
  },
  { givesWay: true },
);
