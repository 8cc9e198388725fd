import { readFileSync } from 'node:fs';

/** An example of the specification, verbatim: test/data/specification/ORIGIN.md names the place of each. */
export const spec = (name: string): string =>
  readFileSync(new URL(`../../data/specification/${name}`, import.meta.url), 'utf8');
