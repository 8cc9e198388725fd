import { send } from './api.ts';

/** Where `sitewright up` serves the page. */
export const isOnThisMachine = (): boolean => /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(location.hostname);

/**
 * Signs in by the link that `sitewright up` prints: `/#token=…`, which no server sees. The token leaves the address bar and its
 * history; a cookie has it from then on, out of reach of scripts. Links lead others into no session beyond this machine.
 */
export async function signInByLink(): Promise<void> {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  // The page asks for a token where this one is refused.
  if (isOnThisMachine()) await send('POST /session', { body: { token } }).catch(() => undefined);
}
