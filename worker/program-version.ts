import { readFileSync } from 'node:fs';

/** The version in package.json, which is one folder up from the sources and two from the compiled code. */
export function programVersion(): string {
  for (const place of ['../package.json', '../../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as Record<string, unknown>;
      if (found.name === 'sitewright') return String(found.version);
    } catch {
      // Not here: try the next one.
    }
  }
  return '0.0.0';
}
