import { addressOf, DEFAULT_API } from './api-address.ts';
import { savedContexts } from './contexts.ts';
import type { Terminal } from './terminal.ts';

/** Another system is on this machine, or in the next rack. */
const LIMIT_MS = 2_000;

interface AnsweringSystem {
  /** For people: its store, and since when; only its address where it wants a token. */
  readonly text: string;
  /** Undefined where it does not say. */
  readonly empty: boolean | undefined;
}

/** The system whose API answers at an address; undefined if none does. */
export async function systemAt(url: string, token?: string): Promise<AnsweringSystem | undefined> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const get = async (path: string): Promise<Record<string, unknown> | undefined> => {
    const answer = await fetch(`${url}/api/v1/${path}`, { headers, signal: AbortSignal.timeout(LIMIT_MS) }).catch(
      () => undefined,
    );
    return answer?.ok ? ((await answer.json().catch(() => undefined)) as Record<string, unknown>) : undefined;
  };
  if ((await get('version'))?.name !== 'sitewright') return undefined;
  const system = await get('system');
  if (system === undefined) return { text: url, empty: undefined };
  return { text: `${url} (store ${system.store}, since ${system.since})`, empty: system.empty === true };
}

/**
 * What to tell people who start an empty system while another one runs: most of them wanted the other one, and stand in
 * another folder. Undefined: nothing.
 *
 * @param sharesTemporal a worker of another system was there before ours
 */
export async function warningBeside(
  own: string,
  { env }: Pick<Terminal, 'env'>,
  sharesTemporal: boolean,
  token?: string,
): Promise<string | undefined> {
  const here = await systemAt(own, token);
  if (here?.empty !== true) return undefined;
  const { current, contexts } = savedContexts({ env }).all();
  // What they have named is likelier to be the one that they wanted.
  const places = [
    ...(env.SITEWRIGHT_API ? [env.SITEWRIGHT_API] : []),
    ...(current === undefined ? [] : [contexts.get(current)?.url ?? own]),
    addressOf(DEFAULT_API.host, DEFAULT_API.port),
  ];
  const others = await Promise.all([...new Set(places)].filter((url) => url !== own).map((url) => systemAt(url)));
  const [other] = others.filter((one) => one !== undefined);
  if (other === undefined && !sharesTemporal) return undefined;
  const which =
    other === undefined
      ? 'workers of another system already take work from this Temporal, and ours would take theirs'
      : `another system answers at ${other.text}`;
  const next =
    other === undefined
      ? 'Stop this one, and start it with an own SITEWRIGHT_TEMPORAL_ADDRESS.'
      : `To use the other one: stop this one, and name it with --api, or 'sitewright context add NAME URL --use'.`;
  return `this system is new and empty (${here.text}), while ${which}. ${next}`;
}
