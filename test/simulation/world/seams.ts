import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

/**
 * Compression in Node works in threads of its own, which no seed decides. To be called before the store is loaded, which keeps the
 * functions that it finds.
 */
export function withoutThreads(): void {
  const here =
    (work: (bytes: never) => Buffer) =>
    (bytes: never, done: (error: Error | null, result?: Buffer) => void): void => {
      let result: Buffer;
      try {
        result = work(bytes);
      } catch (error) {
        done(error as Error);
        return;
      }
      done(null, result);
    };
  Object.assign(zlib, { gzip: here(zlib.gzipSync as never), gunzip: here(zlib.gunzipSync as never) });
  syncBuiltinESMExports();
}
