import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls `ring` when something in a folder changes. Only to be quick: where the kernel has no watch left, or the
 * file system none to offer, nothing rings, and the caller's own looking now and then has to do.
 */
export function watchFolder(folder: string, ring: () => void): { close(): void } {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, ring);
  } catch {
    return { close: () => undefined };
  }
  watcher.on('error', () => watcher.close());
  return watcher;
}
