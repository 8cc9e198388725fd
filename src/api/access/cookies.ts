import type { FastifyReply } from 'fastify';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A cookie that no script can read. */
interface PrivateCookie {
  readonly name: 'sitewright' | 'sitewright-sign-in' | 'sitewright-program';
  /** `Lax`: also sent when another site sends the browser here. */
  readonly sameSite: 'Strict' | 'Lax';
}

/** Holds the token of a browser. */
export const TOKEN_COOKIE: PrivateCookie = { name: 'sitewright', sameSite: 'Strict' };
/** Holds a sign-in between the request to the provider and its answer. */
export const SIGN_IN_COOKIE: PrivateCookie = { name: 'sitewright-sign-in', sameSite: 'Lax' };

/** Holds the question whether a program may be signed in. The browser comes to it from the provider. */
export const PROGRAM_COOKIE: PrivateCookie = { name: 'sitewright-program', sameSite: 'Lax' };

/** Only this host can set a cookie with this prefix, and only over TLS. */
const SECURE_PREFIX = '__Host-';

/**
 * The value of a request's cookie. Over TLS only the one with the prefix counts: another host of the
 * domain, or someone in the network before TLS, can plant one without it.
 *
 * @param secure browsers reach this API over TLS, as far as it knows
 */
export function readCookie(
  { cookie }: Headers,
  { name }: PrivateCookie,
  { secure }: { readonly secure: boolean },
): string | undefined {
  if (typeof cookie !== 'string') return undefined;
  const pairs = cookie.split(';').map((pair) => pair.trim());
  for (const whole of [`${SECURE_PREFIX}${name}=`, ...(secure ? [] : [`${name}=`])]) {
    const found = pairs.find((pair) => pair.startsWith(whole));
    if (found !== undefined) return found.slice(whole.length);
  }
  return undefined;
}

/** @param maxAge seconds; undefined: until the browser is closed */
export function writeCookie(
  reply: FastifyReply,
  { name, sameSite }: PrivateCookie,
  value: string,
  { secure, maxAge }: { readonly secure: boolean; readonly maxAge?: number },
): void {
  const parts = [
    `${secure ? SECURE_PREFIX : ''}${name}=${value}`,
    'Path=/',
    'HttpOnly',
    `SameSite=${sameSite}`,
    ...(secure ? ['Secure'] : []),
    ...(maxAge === undefined ? [] : [`Max-Age=${Math.floor(maxAge)}`]),
  ];
  void reply.header('set-cookie', parts.join('; ')).header('cache-control', 'no-store');
}

/** Removes a cookie, as set over TLS or not. */
export function clearCookie(reply: FastifyReply, cookie: PrivateCookie): void {
  for (const secure of [true, false]) writeCookie(reply, cookie, '', { secure, maxAge: 0 });
}
