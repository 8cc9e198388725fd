import zlib from 'node:zlib';
import { syncBuiltinESMExports } from 'node:module';

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
        return done(error as Error);
      }
      done(null, result);
    };
  Object.assign(zlib, { gzip: here(zlib.gzipSync as never), gunzip: here(zlib.gunzipSync as never) });
  syncBuiltinESMExports();
}
