import { renderSvg } from '../../graph/pictures/render-svg.ts';
import { serveThread } from '../../platform/threads/serve-thread.ts';

// What the thread of `openDrawer` runs: Graphviz never looks up while it works.
// As bytes: encoding a large picture would take the time of the thread that answers everyone.
serveThread(async () => async (dot: string) => new TextEncoder().encode(await renderSvg(dot)), { givesWay: true });
