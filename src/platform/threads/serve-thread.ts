import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadMessage, ThrownError } from './thread.ts';

/**
 * Called once by the program of a `Thread`. `setUp` gets the thread's data and returns the handler of a request; if it
 * throws, every request fails with that error.
 *
 * The thread gives way to the main thread of its process, which answers everyone, wherever cores are few.
 */
export function serveThread<Data, Request, Answer>(
  setUp: (data: Data) => Promise<(request: Request) => Answer | Promise<Answer>>,
): void {
  giveWay();
  const send = (message: ThreadMessage<Answer>): void => parentPort!.postMessage(message);
  const ready = setUp(workerData);
  parentPort!.on('message', (request: Request) => {
    ready
      .then((handle) => handle(request))
      .then((value) => send({ value }))
      .catch((error: unknown) => send({ thrown: copyOf(error) }));
  });
  const isReady = (): void => send('ready');
  ready.then(isReady, isReady);
}

/** Copies an error for another thread, because a cloned Error loses its name. */
const copyOf = (error: unknown): ThrownError =>
  error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: 'Error', message: String(error), stack: undefined };

/** On Linux a priority is the thread's own; elsewhere it would be that of the whole process. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  const lower = Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + constants.priority.PRIORITY_BELOW_NORMAL);
  setPriority(0, lower);
}
