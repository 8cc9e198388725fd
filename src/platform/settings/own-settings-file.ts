import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Why a settings file that nobody named may hold what someone else wants: settings decide where keys go, and name code. As Git with
 * `safe.directory`, and sshd with its keys: the file and its folder belong to this user or to root, and nobody else may write
 * them. Undefined: it does not.
 *
 * @throws the system's error where it cannot be looked at
 */
export function whyOfOthers(path: string): string | undefined {
  const own = process.getuid?.();
  if (own === undefined) return undefined;
  const real = realpathSync(path);
  for (const place of new Set([real, dirname(real), dirname(path)])) {
    const { uid, mode } = statSync(place);
    if (uid !== own && uid !== 0) return `${place} belongs to another user`;
    if ((mode & 0o022) !== 0) return `others may write ${place} (mode ${(mode & 0o777).toString(8)})`;
  }
  return undefined;
}
