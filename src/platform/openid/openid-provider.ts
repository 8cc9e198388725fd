import * as openid from 'openid-client';

interface OpenIdOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret?: string;
  readonly scopes: string;
  /** Where the provider sends the browser back to; registered there. */
  readonly redirectUrl: string;
}

/** State kept, out of reach of scripts, from the request to the provider until its answer. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** A user's claims from a provider: those of the ID token, and of its userinfo where the token lacks them. */
export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** `away`: the provider did not answer, or not as one; `refused`: it, or a check of its answer, refused. */
export class OpenIdError extends Error {
  override readonly name = 'OpenIdError';
  readonly kind: 'away' | 'refused';

  constructor(kind: 'away' | 'refused', cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.kind = kind;
  }
}

/** An OpenID Connect provider: authorization code with PKCE. */
export interface OpenIdProvider {
  /** The address to send the browser to. @throws OpenIdError */
  begin(): Promise<{ readonly url: string; readonly pending: PendingSignIn }>;
  /** @param returned the address of the browser's return. @throws OpenIdError */
  finish(returned: URL, pending: PendingSignIn): Promise<Claims>;
}

const TIMEOUT_SECONDS = 10;

/** Reads the provider's description at the first use, and again after a failure. */
export function openIdProvider(options: OpenIdOptions): OpenIdProvider {
  const { issuer, clientId, clientSecret, scopes, redirectUrl } = options;
  const server = new URL(issuer);
  let discovered: Promise<openid.Configuration> | undefined;

  const configuration = (): Promise<openid.Configuration> => {
    discovered ??= openid
      .discovery(
        server,
        clientId,
        undefined,
        clientSecret === undefined ? openid.None() : openid.ClientSecretBasic(clientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          // The settings allow it for this machine only; the mark of being deprecated is there to be noticed.
          // eslint-disable-next-line @typescript-eslint/no-deprecated
          ...(server.protocol === 'http:' ? { execute: [openid.allowInsecureRequests] } : {}),
        },
      )
      .catch((error: unknown) => {
        discovered = undefined;
        throw new OpenIdError('away', error);
      });
    return discovered;
  };

  return {
    async begin() {
      const config = await configuration();
      const pending = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUrl,
        scope: scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, pending };
    },

    async finish(returned, { state, nonce, verifier }) {
      const config = await configuration();
      try {
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        };
        const tokens = await openid.authorizationCodeGrant(config, returned, checks);
        const claims = tokens.claims();
        if (claims === undefined) throw new Error('the provider sent no ID token');
        const more =
          config.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await openid.fetchUserInfo(config, tokens.access_token, claims.sub);
        return { ...more, ...claims };
      } catch (error) {
        const isTransport = error instanceof TypeError && error.message === 'fetch failed';
        throw new OpenIdError(isTransport ? 'away' : 'refused', error);
      }
    },
  };
}
