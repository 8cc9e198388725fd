import { utf8Length } from '../text/text.ts';

/** The error in a path's syntax; undefined if it is valid. */
export function allowedPath(path: string): string | undefined {
  if (!path.startsWith('/')) return 'the path must be absolute';
  if (path.includes('\0')) return 'the path contains a NUL character';
  if (utf8Length(path) > 4095) return 'the path is longer than 4095 bytes';
  const parts = path.split('/').slice(1);
  if (parts.includes('..') || parts.includes('.')) return 'the path contains . or ..';
  if (parts.some((part) => utf8Length(part) > 255)) return 'a part of the path is longer than 255 bytes';
  return undefined;
}
