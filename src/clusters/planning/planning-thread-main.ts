import { parentPort, workerData } from 'node:worker_threads';
import { loadTaskEngine } from './load-engine.js';
import { planHere } from './plan-here.js';
import type { ThreadAnswer, ThreadData, ThreadRequest, ToldError } from './planning-thread.js';

// What a planning thread runs. One request at a time: whoever asks waits for the answer.
const engine = loadTaskEngine((workerData as ThreadData).helpers);
// Whoever asks is told.
engine.catch(() => undefined);

parentPort!.on('message', ({ form, work }: ThreadRequest) => {
  void engine
    .then((loaded): ThreadAnswer => ({ answer: planHere(form, work, loaded) }))
    .catch((error: unknown): ThreadAnswer => ({ error: told(error) }))
    .then((answer) => parentPort!.postMessage(answer));
});

/** Errors of all classes, as what travels of all of them. */
const told = (error: unknown): ToldError =>
  error instanceof Error
    ? { name: error.name, message: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) }
    : { name: 'Error', message: String(error) };
