import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadMessage, ThreadRequest, ThrownError } from './thread.ts';

/** Sends a piece of the answer. Resolves when the one before it has been received, so that few of them wait. */
type SendPiece<Piece> = (piece: Piece) => Promise<void>;

/**
 * Called once by the program of a `Thread`. `setUp` gets the thread's data and returns the handler of a request; if it
 * throws, every request fails with that error.
 *
 * A thread that works for whoever asks (`givesWay`) takes a third of a core that its process's main thread wants, too: that thread
 * answers everyone. Not less, and not the plans of runs: on a busy machine they would stand still.
 */
export function serveThread<Data, Request, Answer, Piece = never>(
  setUp: (data: Data) => Promise<(request: Request, send: SendPiece<Piece>) => Answer | Promise<Answer>>,
  { givesWay = false }: { readonly givesWay?: boolean } = {},
): void {
  if (givesWay) giveWay();
  const send = (message: ThreadMessage<Answer, Piece>): void => parentPort!.postMessage(message);
  const ready = setUp(workerData);
  let received = Promise.resolve();
  let receive = (): void => undefined;
  const sendPiece: SendPiece<Piece> = async (piece) => {
    await received;
    received = new Promise((resolve) => {
      receive = resolve;
    });
    send({ piece });
  };
  parentPort!.on('message', (message: ThreadRequest<Request>) => {
    if (message === 'received') return receive();
    ready
      .then((handle) => handle(message.request, sendPiece))
      .then(async (value) => {
        await received;
        send({ value });
      })
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

/** Steps of Linux's priority: five make a third of the share. */
const GIVES_WAY = 5;
const LOWEST_PRIORITY = 19;

/** On Linux a priority is the thread's own; elsewhere it would be that of the whole process. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  setPriority(0, Math.min(LOWEST_PRIORITY, getPriority(0) + GIVES_WAY));
}
