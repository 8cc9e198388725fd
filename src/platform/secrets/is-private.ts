import type { Stats } from 'node:fs';

/**
 * Whether only its owner may read a file. For a process that is not root, root's files that a group may read count as
 * well: that is how Kubernetes and systemd give a secret to one process.
 */
export function isPrivate({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  const others = mode & 0o077;
  return others === 0 || (others === 0o040 && uid === 0 && process.getuid?.() !== 0);
}
