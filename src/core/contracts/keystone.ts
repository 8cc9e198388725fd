import { z } from 'zod';
import { tagged } from './route.ts';

const text = z.string().max(1000);
const login = z.looseObject({ username: text, password: text });

const v2Body = z
  .looseObject({
    auth: z.looseObject({ passwordCredentials: login, token: z.looseObject({ id: text }) }).partial(),
  })
  .meta({ id: 'KeystoneV2Login', description: 'As in Keystone: user and password, or a token to renew.' });

const v3Body = z
  .looseObject({
    auth: z.looseObject({
      identity: z.looseObject({
        methods: z.array(text).min(1),
        password: z
          .looseObject({ user: z.looseObject({ id: text.optional(), name: text.optional(), password: text }) })
          .optional(),
        token: z.looseObject({ id: text }).optional(),
      }),
      scope: z.unknown().optional(),
    }),
  })
  .meta({ id: 'KeystoneV3Login', description: 'As in Keystone: user and password, or a token to renew.' });

const v2Answer = z
  .strictObject({
    access: z.strictObject({
      token: z.strictObject({
        id: z.string().describe('Send it as `X-Auth-Token`.'),
        issued_at: z.string(),
        expires: z.string(),
        tenant: z.strictObject({ id: z.string(), name: z.string(), enabled: z.boolean(), description: z.string() }),
      }),
      user: z.strictObject({
        id: z.string(),
        name: z.string(),
        username: z.string(),
        roles: z.array(z.strictObject({ name: z.string() })),
        roles_links: z.array(z.string()),
      }),
      serviceCatalog: z.array(z.never()),
      metadata: z.strictObject({ is_admin: z.int(), roles: z.array(z.string()) }),
    }),
  })
  .meta({ id: 'KeystoneV2Access' });

const domain = z.strictObject({ id: z.string(), name: z.string() });
const v3Answer = z
  .strictObject({
    token: z.strictObject({
      methods: z.array(z.string()),
      user: z.strictObject({ id: z.string(), name: z.string(), domain }),
      project: z.strictObject({ id: z.string(), name: z.string(), domain }),
      roles: z.array(z.strictObject({ id: z.string(), name: z.string() })),
      catalog: z.array(z.never()),
      issued_at: z.string(),
      expires_at: z.string(),
    }),
  })
  .meta({ id: 'KeystoneV3Token' });

const refused = z
  .strictObject({ error: z.strictObject({ code: z.int(), title: z.string(), message: z.string() }) })
  .meta({ id: 'KeystoneError' });

/**
 * The login of Fuel's clients, below `/keystone`: the user is the name of a token of ours, the password is the token.
 */
export const keystoneRoutes = tagged('access', {
  'POST /v2.0/tokens': {
    id: 'loginByKeystoneV2',
    access: 'anyone',
    summary: 'Log in as clients of Keystone 2.0 do; the password is a token of the API',
    body: v2Body,
    answers: { 200: v2Answer, 401: refused },
  },
  'POST /v3/auth/tokens': {
    id: 'loginByKeystoneV3',
    access: 'anyone',
    summary: 'Log in as clients of Keystone 3 do; the password is a token of the API',
    body: v3Body,
    answers: { 201: v3Answer.describe('The token is in the header `X-Subject-Token`.'), 401: refused },
  },
});
