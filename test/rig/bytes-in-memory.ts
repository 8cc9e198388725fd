import type { TarBytes } from '../../src/packages/tar.ts';

/** An archive in memory, as `readTar` takes it. */
export const bytesInMemory = (whole: Uint8Array): TarBytes => ({
  length: whole.length,
  read: (at, length) => whole.subarray(at, at + length),
});
