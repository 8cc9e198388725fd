import { serveThread } from '../../../../src/platform/threads/serve-thread.ts';

/** A program that fulfils every request. */
export type Deed =
  | { echo: unknown }
  | { throw: string }
  | { exit: number }
  | { idle: number }
  | { pieces: number }
  | 'hang'
  | 'hoard'
  | 'answer a function';

class OwnError extends Error {
  override readonly name = 'OwnError';
}

serveThread(
  async (greeting: string) => {
    if (greeting === 'refuse') throw new OwnError('not set up');
    return async (deed: Deed, send: (piece: number) => Promise<void>): Promise<unknown> => {
      if (deed === 'hang') for (;;);
      if (deed === 'hoard') for (const all: number[][] = []; ; ) all.push(new Array(100_000).fill(1));
      if (deed === 'answer a function') return () => undefined;
      if ('throw' in deed) throw new OwnError(deed.throw);
      if ('idle' in deed) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, deed.idle);
        return 'idled';
      }
      if ('pieces' in deed) {
        for (let piece = 1; piece <= deed.pieces; piece++) await send(piece);
        return 'sent';
      }
      if ('exit' in deed) return process.exit(deed.exit);
      return [greeting, deed.echo];
    };
  },
  { givesWay: true },
);
