import { type Need, ROLES, type Role } from '../core/access.ts';
import { given } from '../core/data/given.ts';
import { CREATE_TOKEN } from '../core/next-steps.ts';
import { PROBLEM_TYPE } from './problems/answer-problem.ts';

interface Operation {
  readonly summary?: string;
  description?: string;
  security?: readonly Readonly<Record<string, readonly string[]>>[];
  responses?: Record<string, unknown>;
}

interface Description {
  paths?: Record<string, Record<string, Operation>>;
  components?: { responses?: object; securitySchemes?: object };
}

const SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: `A token; \`${CREATE_TOKEN}\` creates one.` },
  authToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Auth-Token',
    description: "The same, as sent by Fuel's clients.",
  },
} as const;

const problem = (description: string, headers?: object) => ({
  description,
  ...given({ headers }),
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
});

const needs = (role: Role): string => `Needs${role.charAt(0).toUpperCase()}${role.slice(1)}`;

const RESPONSES = {
  Unauthenticated: problem('Tokens are required, and the request has no valid one.', {
    'WWW-Authenticate': { schema: { type: 'string' }, description: 'How to send a token.' },
  }),
  ...Object.fromEntries(
    ROLES.map((role) => [
      needs(role),
      problem(
        `The token lacks the role ${role}; or, without tokens, the request comes from a foreign page or uses another host name.`,
      ),
    ]),
  ),
  NotOwnPage: problem(
    'Without tokens: the request comes from a foreign page, or uses a host name other than those of this machine.',
  ),
  TooManyRequests: problem('More requests within a minute than `api.rate_limit_per_minute`.', {
    'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait.' },
  }),
};

/**
 * Adds the guard in front of all routes to a description of the API: its tokens and refusals, and whom each operation is for.
 *
 * @param needOf required role of a route's caller, by method and path as in the description
 * @param tokensOn whether this API requires tokens; otherwise operations can be done without as well
 */
export function describeAccess(
  document: object,
  needOf: (method: string, path: string) => Need,
  tokensOn: boolean,
): void {
  const { paths = {}, components = {} } = document as Description;
  components.securitySchemes = SCHEMES;
  components.responses = RESPONSES;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const need = needOf(method.toUpperCase(), path);
      operation.security = need === 'anyone' ? [] : [{ bearer: [] }, { authToken: [] }, ...(tokensOn ? [] : [{}])];
      const text = operation.description ?? `${operation.summary}.`;
      operation.description = `${text} ${need === 'anyone' ? 'Needs no token.' : `Needs the role ${need}.`}`;
      const refusals = {
        ...(need === 'anyone' ? {} : { 401: reference('Unauthenticated') }),
        403: reference(need === 'anyone' ? 'NotOwnPage' : needs(need)),
        ...(path.endsWith('/health/live') ? {} : { 429: reference('TooManyRequests') }),
      };
      operation.responses = { ...refusals, ...operation.responses };
    }
  }
}

const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });
