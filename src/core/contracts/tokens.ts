import { z } from 'zod';
import { ROLES } from '../access.ts';
import { TOKEN_KINDS } from '../words.ts';
import { timestamp } from './primitives.ts';
import { problemSchema } from './problem.ts';
import { gone, tagged } from './route.ts';
import type { Wire } from './wire.ts';

const meSchema = z
  .strictObject({
    name: z.string().describe('Your name in the audit trail.'),
    role: z.enum(ROLES).describe('Your role: `admin` while tokens are off.'),
    tokens: z.boolean().describe('Whether tokens are required (`access.tokens`).'),
  })
  .meta({ id: 'Me' });

const tokenSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(TOKEN_KINDS).describe('`session`: of a user who signed in.'),
    name: z.string().describe('Name in the audit trail.'),
    role: z.string(),
    state: z.enum(['valid', 'expired', 'revoked']),
    created_at: timestamp,
    created_by: z.string(),
    expires_at: timestamp.nullable().describe('Null: never.'),
    revoked_at: timestamp.nullable(),
    revoked_by: z.string().nullable(),
    last_used_at: timestamp.nullable().describe('To the minute.'),
  })
  .meta({ id: 'Token' });

const createdTokenSchema = tokenSchema
  .extend({ token: z.string().describe('The token itself; shown only once.') })
  .meta({ id: 'CreatedToken' });

const tokenListSchema = z.strictObject({ items: z.array(tokenSchema) }).meta({ id: 'TokenList' });

const createTokenBody = z
  .strictObject({
    name: z.string().min(1).max(100).describe('Lower-case letters, digits and . _ @ -; unique among unrevoked tokens.'),
    role: z.enum(ROLES).describe('Its role.'),
    expires: z
      .string()
      .min(1)
      .max(50)
      .optional()
      .describe('Expiry: `90d`, `12h`, `30m` from now, or ISO 8601. Default: never.'),
  })
  .meta({ id: 'CreateToken' });

const tokenParams = z.strictObject({ token: z.string().min(1).max(200).describe('Name or id of the token.') });

const signInSchema = z
  .strictObject({
    tokens: z.boolean().describe('Whether tokens are required (`access.tokens`).'),
    openid: z
      .string()
      .nullable()
      .describe('Address for signing in through the provider in a browser; null if there is none.'),
  })
  .meta({ id: 'SignIn' });

const secret = z.string().min(1).max(200);

const exchangeBody = z
  .strictObject({
    code: secret.describe('Code from the address that the browser was redirected to.'),
    verifier: secret.describe('The secret whose SHA-256 was sent as `challenge`.'),
  })
  .meta({ id: 'ExchangeSignIn' });

const notOurs = {
  description: 'Unknown, or no longer valid.',
  content: { 'application/problem+json': { schema: problemSchema } },
};
export type CreatedToken = Wire<typeof createdTokenSchema>;

export const tokenRoutes = tagged('access', {
  'GET /me': {
    id: 'getMe',
    access: 'viewer',
    summary: 'Show your name and role',
    answers: { 200: meSchema },
    also: [400],
  },
  'GET /session': {
    id: 'getSignIn',
    access: 'anyone',
    summary: 'Show how to sign in',
    answers: { 200: signInSchema },
    alone: true,
  },
  'POST /session': {
    id: 'signInWithToken',
    access: 'anyone',
    summary: 'Store a token in a cookie that scripts cannot read, for the web page',
    body: z.strictObject({ token: secret }).meta({ id: 'SignInWithToken' }),
    answers: { 200: meSchema, 401: notOurs },
  },
  'DELETE /session': {
    id: 'signOut',
    access: 'viewer',
    summary: 'Sign out: end the session, or clear the token cookie',
    answers: gone,
  },
  'POST /session/exchange': {
    id: 'exchangeSignIn',
    access: 'anyone',
    summary: 'Get the session of a user who signed in for a program on their machine',
    body: exchangeBody,
    answers: { 201: createdTokenSchema, 401: notOurs },
  },
  'GET /tokens': {
    id: 'listTokens',
    access: 'admin',
    summary: 'List the tokens of the API, newest first',
    answers: { 200: tokenListSchema },
  },
  'POST /tokens': {
    id: 'createToken',
    access: 'admin',
    summary: 'Create a token; only this answer contains its secret',
    body: createTokenBody,
    answers: { 201: createdTokenSchema.describe('Created. Keep `token`: it is not shown again.') },
    also: [409],
  },
  'DELETE /tokens/:token': {
    id: 'revokeToken',
    access: 'admin',
    summary: 'Revoke a token immediately',
    params: tokenParams,
    answers: { 200: tokenSchema },
  },
});
