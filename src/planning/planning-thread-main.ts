import { parentPort, workerData } from 'node:worker_threads';
import { loadTaskEngine } from './load-engine.js';
import { planHere } from './plan-here.js';
import type { ThreadAnswer, ThreadData, ThreadRequest } from './planning-thread.js';

// What a planning thread runs. One request at a time: whoever asks waits for the answer.
const engine = loadTaskEngine((workerData as ThreadData).helpers);
// Whoever asks is told.
engine.catch(() => undefined);

parentPort!.on('message', ({ form, work }: ThreadRequest) => {
  void engine
    .then((loaded): ThreadAnswer => ({ answer: planHere(form, work, loaded) }))
    .catch((error: unknown): ThreadAnswer => ({ error }))
    .then((answer) => send(answer));
});

/** Errors of classes of their own arrive as plain ones; one that cannot travel at all, by its words. */
function send(answer: ThreadAnswer): void {
  try {
    parentPort!.postMessage(answer);
  } catch (error) {
    const told = 'error' in answer ? answer.error : error;
    parentPort!.postMessage({ error: new Error(String(told)) } satisfies ThreadAnswer);
  }
}
