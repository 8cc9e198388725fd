import type { ApiKey } from './api-key.ts';

/**
 * The `Authorization` header of one attempt: OAuth 1.0 with PLAINTEXT signature. MAAS accepts each
 * nonce once, so call this for every attempt, retries included.
 * @param timestamp seconds since 1970; MAAS refuses one more than 300 s in the past.
 */
export function oauthHeader(key: ApiKey, nonce: string, timestamp: number): string {
  const members = {
    oauth_version: '1.0',
    oauth_signature_method: 'PLAINTEXT',
    oauth_consumer_key: key.consumerKey,
    oauth_token: key.tokenKey,
    // RFC 5849 §3.4.4: both secrets, each encoded, with "&" between; the consumer's is empty with MAAS.
    oauth_signature: `&${percentEncode(key.tokenSecret)}`,
    oauth_nonce: nonce,
    oauth_timestamp: String(timestamp),
  };
  const quoted = Object.entries(members).map(([name, value]) => `${name}="${percentEncode(value)}"`);
  return `OAuth ${quoted.join(', ')}`;
}

/** RFC 5849 §3.6: all but unreserved characters; `encodeURIComponent` leaves five too many. */
function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
