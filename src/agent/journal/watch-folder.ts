import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls `ring` when something in a folder changes. An optimisation only: if the kernel has no watches left or the file
 * system does not support them, it never rings, so the caller must poll as well.
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
