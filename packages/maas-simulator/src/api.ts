import { type Answer, Refused, serverError, wrongFormat } from './answer.ts';
import type { Call } from './call.ts';
import { Form, readBody } from './form.ts';
import type { Authenticator, User } from './oauth.ts';
import { findEndpoint, findHandler, isOpen, refuseAnonymous } from './routes.ts';
import type { Simulation } from './simulation.ts';

/** One HTTP request with its body. */
export interface ApiRequest {
  readonly method: string;
  /** As sent: path and query. */
  readonly url: string;
  readonly authorization: string | undefined;
  readonly contentType: string;
  readonly body: string;
}

/** The caller of an endpoint that needs no key. */
const anonymous: User = { username: '', email: '', isSuperuser: false, entitlements: [] };

/**
 * Answers one request to the REST API. Checks endpoint, key and operation in MAAS' order.
 *
 * @param checkNonce false for the second half of a request that a fault doubled.
 * @returns the answer, and the authenticated user.
 */
export function answerApi(
  sim: Simulation,
  authenticator: Authenticator,
  request: ApiRequest,
  checkNonce = true,
): { readonly answer: Answer; readonly user: string | null } {
  const [path = '', search = ''] = splitUrl(request.url);
  const found = findEndpoint(path);
  if ('status' in found) return { answer: found, user: null };
  const { endpoint, parts } = found;
  const query = new Form(new URLSearchParams(search));
  const { form, isJson } = readBody(request.contentType, request.body);
  const { method } = request;
  const op = query.get('op') ?? (method === 'POST' ? form.get('op') : null);

  const identity = authenticator.authenticate(request.authorization, sim.clock.now(), checkNonce);
  if (identity.kind === 'refused') return { answer: identity.answer, user: null };
  if (identity.kind === 'anonymous' && !isOpen(endpoint, method, op)) {
    return { answer: refuseAnonymous(method, op), user: null };
  }
  const user = identity.kind === 'user' ? identity.user : anonymous;
  const name = user === anonymous ? null : user.username;
  const handler = findHandler(endpoint, method, op);
  if (typeof handler !== 'function') return { answer: handler, user: name };
  const format = query.get('format') ?? 'json';
  if (format !== 'json') return { answer: wrongFormat(format), user: name };
  const call: Call = { ...sim, user, method, path, query, form, isJson, parts };
  return { answer: run(() => handler(call)), user: name };
}

/**
 * The answer to a request whose key is valid and refused all the same: MAAS takes it for one without a key, so that endpoints with an
 * anonymous handler, which is most of them, answer 400 and not 401 (read in 3.8).
 */
export function keyRefused(method: string, url: string): Answer {
  const [path, search] = splitUrl(url);
  const found = findEndpoint(path);
  if ('status' in found) return found;
  return refuseAnonymous(method, new URLSearchParams(search).get('op'));
}

function run(work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    return serverError(error instanceof Error ? error.message : String(error));
  }
}

function splitUrl(url: string): [string, string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}
