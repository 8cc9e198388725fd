import { renderSvg } from '../../graph/pictures/render-svg.ts';
import { serveThread } from '../../platform/threads/serve-thread.ts';

// What the thread of `openDrawer` runs: Graphviz never looks up while it works.
serveThread(async () => renderSvg);
