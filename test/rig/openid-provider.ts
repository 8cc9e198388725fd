import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { signIn } from '../../src/ops/index.ts';
import { openIdProvider } from '../../src/platform/openid/openid-provider.ts';

export interface OpenIdProviderRig {
  readonly issuer: string;
  /** Groups by user; users sign in with any password. Changed by tests. */
  readonly users: Map<string, { groups: readonly string[]; email_verified?: boolean }>;
  close(): Promise<void>;
}

export const CLIENT = { id: 'sitewright', secret: 'the-secret-of-the-client' } as const;

/** A real OpenID provider, with its own pages. @param redirectUrl of the client registered there */
export async function openIdProviderRig(redirectUrl: string): Promise<OpenIdProviderRig> {
  const users: OpenIdProviderRig['users'] = new Map();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUrl] }],
    scopes: ['openid', 'email', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    pkce: { required: () => true },
    cookies: { keys: ['of the tests'] },
    findAccount: (_context, id) => {
      const user = users.get(id);
      if (user === undefined) return undefined;
      const claims = { sub: id, email: `${id}@sitewright.example`, email_verified: true, ...user };
      return { accountId: id, claims: () => claims };
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return {
    issuer,
    users,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sign-in through that provider, as an API at this address offers it. */
export const apiSignIn = (issuer: string, pageUrl: string) => ({
  signIn: signIn(
    openIdProvider({
      issuer,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      scopes: 'openid email groups',
      redirectUrl: `${pageUrl}/auth/callback`,
    }),
    {
      nameClaim: 'email',
      unstatedAddress: 'refuse' as const,
      rolesClaim: 'groups',
      values: { viewer: ['staff'], operator: ['ops'], admin: ['site-admins'] },
    },
  ),
  pageUrl,
  sessionHours: 1,
});

interface Cookie {
  readonly host: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

/** The parts of a browser that signing in needs: cookies by host, redirects, forms. */
export class SmallBrowser {
  readonly #cookies = new Map<string, Cookie>();
  /** Each `set-cookie` it received. */
  readonly received: string[] = [];

  cookie(name: string): string | undefined {
    return [...this.#cookies.values()].find((one) => one.name === name)?.value;
  }

  forget(): void {
    this.#cookies.clear();
  }

  /** Sends one request, without following redirects. */
  async ask(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { host, pathname } = new URL(url);
    const cookie = [...this.#cookies.values()]
      .filter((one) => one.host === host && pathname.startsWith(one.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string> | undefined) };
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      this.received.push(line);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /;\s*path=([^;]+)/i.exec(line)?.[1] ?? '/';
      const key = `${host} ${path} ${name}`;
      if (value === '') this.#cookies.delete(key);
      else this.#cookies.set(key, { host, path, name, value });
    }
    return answer;
  }

  /** Goes to an address, through the provider's pages as this user, until an address that starts with one of `ends`. */
  async signIn(url: string, user: string, ends: readonly string[]): Promise<URL> {
    let at = new URL(url);
    let init: RequestInit = {};
    for (let step = 0; step < 30; step++) {
      if (ends.some((end) => at.href.startsWith(end))) return at;
      const answer = await this.ask(at, init);
      init = {};
      const to = answer.headers.get('location');
      if (to !== null) {
        at = new URL(to, at);
        continue;
      }
      const page = await answer.text();
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
      const { origin } = at;
      if (action === undefined) throw new Error(`${answer.status} at ${at.href}: ${page.slice(0, 400)}`);
      const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
      at = new URL(action, at);
      init = {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ prompt, login: user, password: 'any' }),
      };
    }
    throw new Error(`still signing in at ${at.href}`);
  }
}
