import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Why a file is no place for a secret: others may read it, or another user, who can read and change it, owns it. Undefined: only
 * its owner may read it, and that is this process's user or root.
 *
 * For a process that is not root, root's files that a group may read count as well: that is how Kubernetes and systemd give a
 * secret to one process. Root also takes the files of the user to whom their folder belongs: it runs commands beside
 * services that have a user of their own.
 */
export function whyNotPrivate(
  path: string,
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
): { readonly what: string; readonly fix: string } | undefined {
  const us = process.getuid?.();
  // Windows has other rights.
  if (us === undefined) return undefined;
  const others = mode & 0o077;
  if (others !== 0 && !(others === 0o040 && uid === 0 && us !== 0))
    return { what: `may be read by others (mode ${(mode & 0o777).toString(8)})`, fix: `chmod 600 ${path}` };
  if (uid === us || uid === 0 || (us === 0 && uid === statSync(dirname(path)).uid)) return undefined;
  return { what: `belongs to another user (uid ${uid})`, fix: `chown ${us} ${path}` };
}
