import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

/** Where tasks may place files by default. */
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

const isInside = (path: string, root: string): boolean =>
  path === root || root === sep || path.startsWith(`${root}${sep}`);

/** Whether a folder, with all links resolved, is under one of the roots. */
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
