import { renderSvg } from '../../graph/pictures/render-svg.ts';
import { serveThread } from '../../platform/threads/serve-thread.ts';

// The program of the thread of `openDrawer`: Graphviz blocks its thread.
// As bytes: encoding a large picture would take the time of the thread that answers everyone.
serveThread(async () => async (dot: string) => new TextEncoder().encode(await renderSvg(dot)), { givesWay: true });
