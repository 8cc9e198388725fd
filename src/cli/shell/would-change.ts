/** Requests that only read, although they are no GET: those for viewers. */
const READING: ReadonlySet<string> = new Set([
  'POST /documents/check',
  'POST /sites/:site/revisions/:ref/select',
  'POST /graphs/check/',
  'POST /clusters/:id/attributes/plan',
  'POST /clusters/:id/rehearsals',
  'POST /sites/:site/rehearsals',
]);

export const isChange = (route: string): boolean => !route.startsWith('GET ') && !READING.has(route);

/** The first change of a command with `--dry-run`: it was not sent. */
export class WouldChange extends Error {
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };

  constructor(request: WouldChange['request']) {
    super('a dry run ends before its first change');
    this.request = request;
  }
}

/** What a change would send. */
export function wouldText({ method, path, body }: WouldChange['request']): string {
  const sent =
    body === undefined ? '' : ` ${body instanceof Uint8Array ? `${body.length} bytes` : JSON.stringify(body)}`;
  const shown = sent.length > MAX_SHOWN ? `${sent.slice(0, MAX_SHOWN)}…` : sent;
  return `dry run, nothing was changed; it would send:\n  ${method} ${path}${shown}\n`;
}

const MAX_SHOWN = 4_000;
