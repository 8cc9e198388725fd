import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { covers, type Need } from '../../core/access.ts';
import { CREATE_TOKEN } from '../../core/next-steps.ts';
import type { Principal, TokenOperations } from '../../ops/index.ts';
import type { CodecAuthorization } from '../../platform/codec/codec-endpoint.ts';
import { changes } from '../../platform/own-pages.ts';
import { cutOff } from '../http2.ts';
import type { HttpProblem } from '../problems/http-problem.ts';
import { RequestError } from '../problems/transport-problem.ts';
import { readCookie, TOKEN_COOKIE } from './cookies.ts';
import { requireOwnPage } from './own-pages.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The owner of the request's token or session; undefined without one, and always while tokens are off. */
    principal: Principal | undefined;
  }
}

type Caller =
  | { readonly kind: 'known'; readonly principal: Principal; readonly byCookie: boolean }
  | { readonly kind: 'anonymous'; readonly why: string; readonly gaveToken: boolean };

/**
 * Finds out who asks, before anything of a request but its head is read, and refuses who may not. Everything is open
 * while `tokens` is undefined.
 *
 * A request that takes long (a stream of events, a download, an upload) is cut off within seconds once its token is
 * revoked or expires.
 *
 * @param secure browsers reach this API over TLS
 * @param between runs once it is known who asks, and before it is decided whether they may: limits of rates
 */
export function guardRoutes(
  app: FastifyInstance,
  tokens: TokenOperations | undefined,
  between: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
  secure: boolean,
): void {
  app.decorateRequest('principal', undefined);
  app.addHook('onRequest', async (request, reply) => {
    if (tokens === undefined) return between(request, reply);
    const need = needOf(request);
    const caller = await callerOf(request, tokens, secure);
    if (caller.kind === 'known') request.principal = caller.principal;
    await between(request, reply);
    const refusal = refusalOf(caller, need);
    if (refusal === undefined) {
      // Browsers send cookies for pages of others, too.
      if (caller.kind === 'known' && caller.byCookie && need !== 'anyone' && changes(request)) requireOwnPage(request);
      if (need !== 'anyone')
        checkAgainUntilAnswered(request, reply, async () => refusalOf(await callerOf(request, tokens, secure), need));
      return;
    }
    if (refusal.code === 'unauthenticated') {
      const error = caller.kind === 'anonymous' && caller.gaveToken ? ', error="invalid_token"' : '';
      void reply.header('www-authenticate', `Bearer realm="sitewright"${error}`);
    }
    throw new RequestError(refusal);
  });
}

/** Between two looks at the token of a request under way. */
const CHECK_AGAIN_MS = 2_000;

/** Cuts the request off when the request is no longer allowed. An unreachable store decides nothing. */
function checkAgainUntilAnswered(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: () => Promise<HttpProblem | undefined>,
): void {
  const timer = setInterval(() => {
    refusal().then(
      (found) => {
        if (found !== undefined) cutOff(request);
      },
      () => undefined,
    );
  }, CHECK_AGAIN_MS);
  timer.unref();
  reply.raw.once('close', () => clearInterval(timer));
}

/** Unknown paths are reported to all who may read. A route without a role is for admins. */
const needOf = ({ is404, routeOptions }: FastifyRequest): Need =>
  is404 ? 'viewer' : (routeOptions.config.access ?? 'admin');

/** @param secure browsers reach this API over TLS */
export async function callerOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  tokens: TokenOperations,
  secure: boolean,
): Promise<Caller> {
  const given = tokenFromHeaders(headers);
  if (given.kind === 'malformed') return { kind: 'anonymous', why: given.why, gaveToken: true };
  const cookie = given.kind === 'none' ? readCookie(headers, TOKEN_COOKIE, { secure }) : undefined;
  const token = given.kind === 'token' ? given.token : cookie;
  if (token === undefined) return { kind: 'anonymous', why: 'a token is required', gaveToken: false };
  const answer = await tokens.authenticate(token);
  if (answer.ok) return { kind: 'known', principal: answer.principal, byCookie: cookie !== undefined };
  const why = answer.why === 'unknown' ? 'the token is unknown' : `the token is ${answer.why}`;
  return { kind: 'anonymous', why, gaveToken: true };
}

export function refusalOf(caller: Caller, need: Need): HttpProblem | undefined {
  if (need === 'anyone') return undefined;
  if (caller.kind === 'anonymous')
    return {
      code: 'unauthenticated',
      message: caller.why,
      hint: `Send 'Authorization: Bearer TOKEN'; the CLI takes SITEWRIGHT_TOKEN or --token-file, and in the folder of 'sitewright up' the token that this keeps there. 'sitewright login' signs in where a provider is configured. An admin creates tokens with '${CREATE_TOKEN}', the first one with 'sitewright token bootstrap'.`,
    };
  const { kind, name, role } = caller.principal;
  if (covers(role, need)) return undefined;
  const who = kind === 'session' ? `'${name}'` : `the token '${name}'`;
  return {
    code: 'forbidden',
    message: `this requires the role ${need}; ${who} has the role ${role}`,
    hint: `Ask an admin for a token with the role ${need}.`,
  };
}

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

/**
 * Who may use the codec endpoint: with the same tokens as for the API, viewers may decode histories, and
 * operators, who may start runs, encode.
 */
export const codecAuthorization =
  (tokens: TokenOperations): CodecAuthorization =>
  async (headers, direction) => {
    const refusal = refusalOf(
      await callerOf({ headers }, tokens, false),
      direction === 'decode' ? 'viewer' : 'operator',
    );
    if (refusal === undefined) return undefined;
    const { code, message, hint = '' } = refusal;
    return { status: code === 'unauthenticated' ? 401 : 403, message, hint };
  };
