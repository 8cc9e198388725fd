import type { Terminal } from './terminal.ts';

/** What answers at once needs no word. */
const SILENT_MS = 1_000;

/** A `fetch` that says on a terminal what it waits for, once that takes longer than a moment. */
export function showingWaits(terminal: Pick<Terminal, 'progress' | 'now'>, ask: typeof fetch): typeof fetch {
  const { progress } = terminal;
  if (progress === undefined) return ask;
  return async (input, init) => {
    const started = terminal.now();
    const host = new URL(typeof input === 'string' || input instanceof URL ? input : input.url).host;
    let shown = false;
    const timer = setInterval(() => {
      shown = true;
      progress(`… waiting for ${host}, ${Math.round((terminal.now() - started) / 1000)} s`);
    }, SILENT_MS);
    try {
      return await ask(input, init);
    } finally {
      clearInterval(timer);
      if (shown) progress(undefined);
    }
  };
}
