import type { Fault } from './records.ts';
import type { Region } from './region.ts';

/** Failures between a client and MAAS. */
const faultKinds = [
  /** The connection breaks before anything is done. */
  'drop_before',
  /** Done, but the connection breaks instead of an answer. */
  'drop_after',
  /** Done, but a proxy answers 504. */
  '504_after',
  /** Done, but a proxy answers 200 with a web page. */
  'garbled',
  /** The key is refused, as that of a user who is inactive at the provider of identities; nothing is done. */
  '401',
  /** The retryable conflict; nothing is done. */
  '409html',
  /** 503 without `Retry-After`; nothing is done. */
  '503',
  /** 503 with `Retry-After: 10`; nothing is done. */
  '503retry',
  '500',
  '502',
  '504',
  /** Done after `ms`. It is done even if the client has disconnected. */
  'slow',
  /** Done twice, as a proxy that repeats requests would; the second answer is sent. */
  'double',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Reads the body of the `faults` control: the faults, or every problem of it. */
export function readFaults(
  body: unknown,
): { readonly faults: readonly Fault[] } | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const given = Array.isArray(body) ? body : [body];
  const faults = given.map((item: unknown, i): Fault => {
    const fault = (item ?? {}) as Readonly<Record<string, unknown>>;
    const match = typeof fault.match === 'string' ? fault.match : '';
    if (match === '') problems.push(`[${i}].match must be a regular expression over 'METHOD URL'`);
    try {
      new RegExp(match);
    } catch (error) {
      problems.push(`[${i}].match is not a regular expression: ${(error as Error).message}`);
    }
    const kind = String(fault.kind);
    if (!(faultKinds as readonly string[]).includes(kind)) {
      problems.push(`[${i}].kind '${kind}' is unknown: ${faultKinds.join(', ')}`);
    }
    const { times = 1, ms = 0 } = fault;
    if (!Number.isInteger(times) || (times as number) < 0)
      problems.push(`[${i}].times must be a whole number, 0 or more`);
    if (typeof ms !== 'number' || ms < 0) problems.push(`[${i}].ms must be a number of milliseconds`);
    return { match, kind, times: Number(times), ms: Number(ms) };
  });
  return problems.length > 0 ? { problems } : { faults };
}

/** The first remaining fault for a request; its count goes down by one. */
export function takeFault(region: Region, method: string, url: string): Fault | null {
  const { faults } = region.control;
  const subject = `${method} ${url}`;
  const at = faults.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(subject));
  const fault = faults[at];
  if (!fault) return null;
  region.editControl().faults = faults
    .map((other, i) => (i === at ? { ...other, times: other.times - 1 } : other))
    .filter(({ times }) => times > 0);
  return fault;
}
