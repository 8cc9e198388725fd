import { parentPort } from 'node:worker_threads';
import type { DrawingAnswer, DrawingRequest } from './drawing-thread.js';
import { renderSvg } from './render-svg.js';

// What a drawing thread runs: Graphviz never looks up while it works, so requests wait for each other.
parentPort!.on('message', ({ id, dot }: DrawingRequest) => {
  void renderSvg(dot)
    .then((svg): DrawingAnswer => ({ id, svg }))
    .catch((error: unknown): DrawingAnswer => ({ id, refused: error instanceof Error ? error.message : String(error) }))
    .then((answer) => parentPort!.postMessage(answer));
});
