import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

/**
 * Compression in Node works in threads of its own, which no seed decides. To be called before the store is loaded, which keeps the
 * functions that it finds.
 */
export function withoutThreads(): void {
  type Done = (error: Error | null, result?: Buffer) => void;
  const here =
    (work: (bytes: never, options?: never) => Buffer) =>
    (bytes: never, ...more: [Done] | [options: never, Done]): void => {
      const done = more.at(-1) as Done;
      let result: Buffer;
      try {
        result = work(bytes, more.length > 1 ? (more[0] as never) : undefined);
      } catch (error) {
        done(error as Error);
        return;
      }
      done(null, result);
    };
  Object.assign(zlib, { gzip: here(zlib.gzipSync as never), gunzip: here(zlib.gunzipSync as never) });
  syncBuiltinESMExports();
}
