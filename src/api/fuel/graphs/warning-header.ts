import type { Diagnostic } from '../../../core/problems/diagnostic.ts';

const MAX = 10;

/** Findings for an answer whose body has no room for them (RFC 7234 §5.5). */
export const warningHeader = (warnings: readonly Diagnostic[]): string =>
  warnings
    .slice(0, MAX)
    .map(({ path, message }) => {
      const text = `${path === undefined ? '' : `${path}: `}${message}`.slice(0, 200);
      // Headers take printable ASCII.
      return `199 - "${text.replaceAll(/[^ -~]/g, '?').replaceAll(/["\\]/g, "'")}"`;
    })
    .join(', ');
