/** The token in the headers of a request. */
type GivenToken =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'none' }
  /** The header is there and holds no token. */
  | { readonly kind: 'malformed'; readonly why: string };

/**
 * Reads `Authorization: Bearer …` (RFC 6750), or `X-Auth-Token` as Fuel's clients send it. The former decides where
 * both are there.
 */
export function tokenFromHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): GivenToken {
  const { authorization, 'x-auth-token': fuel } = headers;
  if (typeof authorization === 'string' && authorization.trim() !== '') {
    const [, token] = /^bearer +(\S+)$/i.exec(authorization.trim()) ?? [];
    if (token === undefined)
      return { kind: 'malformed', why: "the header Authorization is not of the form 'Bearer TOKEN'" };
    return { kind: 'token', token };
  }
  const token = Array.isArray(fuel) ? fuel[0] : fuel;
  return token === undefined || token.trim() === '' ? { kind: 'none' } : { kind: 'token', token: token.trim() };
}
