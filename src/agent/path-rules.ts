import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

/** Where tasks may place files, unless the agent is told otherwise. */
export const DEFAULT_PATH_ROOTS: readonly string[] = [
  '/etc',
  '/home',
  '/opt',
  '/root',
  '/run',
  '/srv',
  '/tmp',
  '/usr/local',
  '/usr/share',
  '/var',
];

/** What is wrong with a path as written; undefined when nothing is. */
export function allowedPath(path: string): string | undefined {
  if (!path.startsWith('/')) return 'the path must be absolute';
  if (path.includes('\0')) return 'the path holds a NUL character';
  if (Buffer.byteLength(path) > 4095) return 'the path is longer than 4095 bytes';
  const parts = path.split('/').slice(1);
  if (parts.includes('..') || parts.includes('.')) return 'the path holds . or ..';
  if (parts.some((part) => Buffer.byteLength(part) > 255)) return 'a part of the path is longer than 255 bytes';
  return undefined;
}

const isInside = (path: string, root: string): boolean =>
  path === root || root === sep || path.startsWith(`${root}${sep}`);

/** Whether a folder, with all links resolved, lies under one of the roots. */
export function isUnderRoots(resolved: string, roots: readonly string[]): boolean {
  return roots.some((root) => {
    if (isInside(resolved, root)) return true;
    try {
      return isInside(resolved, realpathSync(root));
    } catch {
      return false;
    }
  });
}
