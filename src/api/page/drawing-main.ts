import { renderSvg } from '../../graph/pictures/render-svg.js';
import { serveThread } from '../../platform/threads/serve-thread.js';

// What the thread of `openDrawer` runs: Graphviz never looks up while it works.
serveThread(async () => renderSvg);
