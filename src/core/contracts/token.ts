import { z } from 'zod';
import { ROLES } from '../../core/access-role.ts';
import { TOKEN_KINDS } from '../words.ts';
import { timestamp } from './primitives.ts';
import { problemSchema } from './problem.ts';
import { gone, tagged } from './route.ts';
import type { Wire } from './wire.ts';

const meSchema = z
  .strictObject({
    name: z.string().describe('Who acts, as the audit trail will say.'),
    role: z.enum(ROLES).describe('What you may do: `admin` while tokens are off.'),
    tokens: z.boolean().describe('Whether tokens are needed here (`access.tokens`).'),
  })
  .meta({ id: 'Me' });

const tokenSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(TOKEN_KINDS).describe('`session`: of a user who signed in.'),
    name: z.string().describe('Who acts, in the audit trail.'),
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
  .extend({ token: z.string().describe('The token itself. It is shown this once.') })
  .meta({ id: 'CreatedToken' });

const tokenListSchema = z.strictObject({ items: z.array(tokenSchema) }).meta({ id: 'TokenList' });

const createTokenBody = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(100)
      .describe('Lower-case letters, digits and . _ @ -; no two tokens in use have the same.'),
    role: z.enum(ROLES).describe('What it may do.'),
    expires: z
      .string()
      .min(1)
      .max(50)
      .optional()
      .describe('When it ends: `90d`, `12h`, `30m` from now, or ISO 8601. Not given: never.'),
  })
  .meta({ id: 'CreateToken' });

const tokenParams = z.strictObject({ token: z.string().min(1).max(200).describe('Name or id of the token.') });

const signInSchema = z
  .strictObject({
    tokens: z.boolean().describe('Whether tokens are needed here (`access.tokens`).'),
    openid: z
      .string()
      .nullable()
      .describe('Address at which a browser signs in through the provider. Null: there is none.'),
  })
  .meta({ id: 'SignIn' });

const secret = z.string().min(1).max(200);

const exchangeBody = z
  .strictObject({
    code: secret.describe('From the address to which the browser was sent.'),
    verifier: secret.describe('The secret whose SHA-256 was sent as `challenge`.'),
  })
  .meta({ id: 'ExchangeSignIn' });

const notOurs = {
  description: 'It is not one of ours, or it is not valid any more.',
  content: { 'application/problem+json': { schema: problemSchema } },
};
export type CreatedToken = Wire<typeof createdTokenSchema>;

export const tokenRoutes = tagged('access', {
  'GET /me': {
    id: 'getMe',
    access: 'viewer',
    summary: 'Who you are here, and what you may do',
    answers: { 200: meSchema },
    also: [400],
  },
  'GET /session': {
    id: 'getSignIn',
    access: 'anyone',
    summary: 'How to sign in here',
    answers: { 200: signInSchema },
    alone: true,
  },
  'POST /session': {
    id: 'signInWithToken',
    access: 'anyone',
    summary: 'Keep a token in a cookie that scripts cannot read, for the web page',
    body: z.strictObject({ token: secret }).meta({ id: 'SignInWithToken' }),
    answers: { 200: meSchema, 401: notOurs },
  },
  'DELETE /session': {
    id: 'signOut',
    access: 'viewer',
    summary: 'Sign out: end the session, or forget the token of the cookie',
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
    summary: 'Make a token; its secret is in this answer and in no other',
    body: createTokenBody,
    answers: { 201: createdTokenSchema.describe('Made. Keep `token`: it cannot be read again.') },
    also: [409],
  },
  'DELETE /tokens/:token': {
    id: 'revokeToken',
    access: 'admin',
    summary: 'Revoke a token; it is good for nothing from now on',
    params: tokenParams,
    answers: { 200: tokenSchema },
  },
});
