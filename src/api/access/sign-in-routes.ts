import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SignInFailure } from '../../core/words.ts';
import { type SignIn, SignInError, type TokenOperations } from '../../ops/index.ts';
import { clearCookie, PROGRAM_COOKIE, readCookie, SIGN_IN_COOKIE, TOKEN_COOKIE, writeCookie } from './cookies.ts';
import { requireOwnPage } from './own-pages.ts';
import { programPage } from './program-page.ts';
import type { SignInCodes, WaitingProgram } from './sign-in-codes.ts';

/** Sign-in through an OpenID provider, as this API offers it. */
export interface ApiSignIn {
  readonly signIn: SignIn;
  /** Under which browsers reach this API, without a trailing slash. */
  readonly pageUrl: string;
  readonly sessionHours: number;
}

export const LOGIN_PATH = '/auth/login';
export const CALLBACK_PATH = '/auth/callback';
/** Asks whether a program may be signed in. */
const PROGRAM_PATH = '/auth/program';

/** A path of this host: `//other.example` and `/\other.example` lead elsewhere. */
const pagePath = z
  .string()
  .max(2_000)
  .regex(/^\/(?![/\\])[\x21-\x7e]*$/);

/** A program that waits on the user's machine (RFC 8252). */
const program = z.strictObject({
  port: z.coerce.number().int().min(1_024).max(65_535),
  challenge: z.string().regex(/^[\w-]{43}$/),
  state: z.string().regex(/^[\w-]{1,100}$/),
});

const loginQuery = z.union([program, z.strictObject({ return_to: pagePath.default('/') })]);

const secret = z.string().min(1).max(200);
const keptSchema = z.strictObject({
  pending: z.strictObject({ state: secret, nonce: secret, verifier: secret }),
  to: loginQuery,
});

type Destination = z.output<typeof loginQuery>;

const SIGN_IN_SECONDS = 600;

/** `/auth/login` sends a browser to the provider, which sends it back to `/auth/callback`. */
export function serveSignIn(
  app: FastifyInstance,
  { signIn, pageUrl, sessionHours }: ApiSignIn,
  tokens: TokenOperations,
  codes: SignInCodes,
): void {
  const secure = pageUrl.startsWith('https:');

  const orFailure = async (
    request: FastifyRequest,
    reply: FastifyReply,
    to: Destination,
    work: () => Promise<string>,
  ) => {
    void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    try {
      return reply.redirect(await work(), 303);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      request.log.warn({ failure: error.failure, reason: error.message }, 'a user could not sign in');
      return reply.redirect(failureUrl(to, error.failure), 303);
    }
  };

  app.get(LOGIN_PATH, { schema: { hide: true, querystring: loginQuery } }, (request, reply) => {
    const to = loginQuery.parse(request.query);
    return orFailure(request, reply, to, async () => {
      const { url, pending } = await signIn.begin();
      const kept = Buffer.from(JSON.stringify({ pending, to })).toString('base64url');
      writeCookie(reply, SIGN_IN_COOKIE, kept, { secure, maxAge: SIGN_IN_SECONDS });
      return url;
    });
  });

  app.get(CALLBACK_PATH, { schema: { hide: true } }, (request, reply) => {
    const kept = keptOf(request, secure);
    clearCookie(reply, SIGN_IN_COOKIE);
    return orFailure(request, reply, kept?.to ?? { return_to: '/' }, async () => {
      if (kept === undefined) throw new SignInError('expired', 'the browser returned without its cookie');
      const { pending, to } = kept;
      const query = request.url.slice(CALLBACK_PATH.length);
      const user = await signIn.finish(new URL(`${pageUrl}${CALLBACK_PATH}${query}`), pending);
      if ('port' in to) {
        const question = codes.questions.add({ user, program: to });
        writeCookie(reply, PROGRAM_COOKIE, question, { secure, maxAge: SIGN_IN_SECONDS });
        return PROGRAM_PATH;
      }
      const { token } = await tokens.startSession(user, sessionHours);
      writeCookie(reply, TOKEN_COOKIE, token, { secure, maxAge: sessionHours * 3_600 });
      return to.return_to;
    });
  });

  const questionOf = ({ headers }: FastifyRequest): string => readCookie(headers, PROGRAM_COOKIE, { secure }) ?? '';
  const expired = failureUrl({ return_to: '/' }, 'expired');

  app.get(PROGRAM_PATH, { schema: { hide: true } }, (request, reply) => {
    const asked = codes.questions.look(questionOf(request));
    return asked === undefined ? reply.redirect(expired, 303) : programPage(reply, asked);
  });

  // Answered by a form, which has nothing to say but that it was sent.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, async () => undefined);
  app.post(PROGRAM_PATH, { schema: { hide: true } }, (request, reply) => {
    requireOwnPage(request);
    const asked = codes.questions.take(questionOf(request));
    clearCookie(reply, PROGRAM_COOKIE);
    void reply.header('referrer-policy', 'no-referrer');
    if (asked === undefined) return reply.redirect(expired, 303);
    const { user, program } = asked;
    return reply.redirect(programUrl(program, { code: codes.add(user, program.challenge) }), 303);
  });
}

function keptOf({ headers }: FastifyRequest, secure: boolean): z.output<typeof keptSchema> | undefined {
  try {
    const text = Buffer.from(readCookie(headers, SIGN_IN_COOKIE, { secure }) ?? '', 'base64url').toString('utf8');
    return keptSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const programUrl = ({ port, state }: WaitingProgram, answer: Readonly<Record<string, string>>): string =>
  `http://127.0.0.1:${port}/?${new URLSearchParams({ ...answer, state })}`;

const failureUrl = (to: Destination, failure: SignInFailure): string =>
  'port' in to ? programUrl(to, { error: failure }) : `/?sign_in=${failure}`;
