import { createHash } from 'node:crypto';

/** A UUID of version 4 derived from its arguments, the same on each call. */
export function stableUuid(...of: readonly (string | number)[]): string {
  const h = createHash('sha256').update(of.join(' ')).digest('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20, 32)}`;
}
