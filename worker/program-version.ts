import { readFileSync } from 'node:fs';

/** Of package.json: beside this folder in the sources, one folder up from the compiled code. */
export function programVersion(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as Record<string, unknown>;
      if (found.name === 'sitewright') return String(found.version);
    } catch {
      // Not there: the next place.
    }
  }
  return '0.0.0';
}
