import { API } from '../../src/core/contracts/api.ts';
import type { Route } from '../../src/core/contracts/route.ts';

/** The part of docs/reference/rest.md below its mark: every route by its subject, generated from the map of routes. */
export function routesReference(): string {
  const subjects = new Map<string, string[]>();
  for (const [at, { tag = '', access, summary }] of Object.entries(API as Readonly<Record<string, Route>>)) {
    const [method, path] = at.split(' ') as [string, string];
    const row = `| \`${method} /api/v1${path}\` | ${access} | ${summary} |`;
    subjects.set(tag, [...(subjects.get(tag) ?? []), row]);
  }
  return [...subjects]
    .map(([tag, rows]) => `### ${tag}\n\n| route | for | does |\n| --- | --- | --- |\n${rows.join('\n')}\n`)
    .join('\n');
}
