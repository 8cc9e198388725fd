import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { programCode } from '../../platform/secrets/program-code.ts';

/** Result from the browser: a code, or why there is none. */
type SignInAnswer = { readonly code: string } | { readonly error: string };

interface AwaitedSignIn {
  /** Query for the API's login address. */
  readonly query: string;
  /** What the page shows that asks whether this program may be signed in. */
  readonly code: string;
  /** The secret to exchange the code with; it never leaves this process before. */
  readonly verifier: string;
  /** Resolves when the browser comes back. Rejects when aborted. */
  answer(signal: AbortSignal): Promise<SignInAnswer>;
  close(): void;
}

/** Listens on the loopback address for a browser that comes back from signing in (RFC 8252). */
export async function awaitSignIn(): Promise<AwaitedSignIn> {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const state = randomBytes(16).toString('base64url');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answered = new Promise<SignInAnswer>((resolve) => {
    server.on('request', (request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const code = searchParams.get('code');
      // Anything on this machine can ask; only our own sign-in knows the state.
      if (searchParams.get('state') !== state) return void response.writeHead(404).end();
      response
        .writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
        .end(
          `${code === null ? 'Signing in failed' : 'You are signed in'}. Go back to the terminal; this window can be closed.\n`,
        );
      resolve(code === null ? { error: searchParams.get('error') ?? 'refused' } : { code });
    });
  });
  return {
    query: new URLSearchParams({ port: String(port), challenge, state }).toString(),
    code: programCode(challenge),
    verifier,
    answer: (signal) =>
      Promise.race([
        answered,
        new Promise<never>((_, reject) => {
          const abort = () => reject(signal.reason);
          if (signal.aborted) abort();
          else signal.addEventListener('abort', abort, { once: true });
        }),
      ]),
    close: () => void server.close(),
  };
}
