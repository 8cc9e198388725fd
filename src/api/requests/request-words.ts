import { printPath } from '../../core/data/plain-value.ts';
import type { SchemaWords } from '../../documents/index.ts';

/** Words for the author of a request; `part` is the part with the value: path, query or body. */
export const requestWords = (part: 'path' | 'query' | 'body'): SchemaWords => {
  // Paths begin with the part, names do not.
  const nameOf: SchemaWords['nameOf'] = ([, ...inner]) => printPath(inner) || `the ${part}`;
  return {
    codes: {
      missing: 'request.missing-field',
      'wrong-type': 'request.wrong-type',
      'wrong-value': 'request.wrong-value',
      unknown: 'request.unknown-field',
      more: 'request.more-problems',
    },
    mapping: 'an object',
    empty: 'null',
    key: 'field',
    nameOf,
    missing: (path) => `${nameOf(path)} is missing in the ${part}`,
    unknownIn: (path) => ` in ${nameOf(path)}`,
    yamlHints: false,
  };
};
