/** The simulator's answer. */
export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Hash of MAAS 3.6's API, as sent in its header. */
const apiHash = 'bd3008aa4117851381834a8aef52b26b8d88ef14';
const utf8Json = 'application/json; charset=utf-8';
const utf8Text = 'text/plain; charset=utf-8';

/** Sent by MAAS when a handler answers: the request passed authentication and was handled. */
const handled = { Vary: 'Authorization, Cookie', 'X-Maas-Api-Hash': apiHash };
/** Sent when a request is refused before its handler ends. */
const refused = { Vary: 'Cookie' };

const answer = (
  status: number,
  type: string | null,
  body: string,
  headers: Readonly<Record<string, string>>,
): Answer => ({ status, type, body, headers });

/** 200 with JSON, indented by four as MAAS does. */
export const json = (value: unknown): Answer => answer(200, utf8Json, JSON.stringify(value, null, 4), handled);

/** 200 with already serialized JSON. */
export const jsonText = (body: string): Answer => answer(200, utf8Json, body, handled);

/** 200 with JSON from a handler that builds its response itself: no charset in the type. */
export const plainJson = (value: unknown): Answer => answer(200, 'application/json', JSON.stringify(value), handled);

export const text = (body: string): Answer => answer(200, utf8Text, body, handled);

/** The 204 after each DELETE. */
export const deleted = (): Answer => answer(204, 'text/plain', '', handled);

/** For `version/`, which needs no key. */
export const publicJson = (value: unknown): Answer => ({
  ...json(value),
  headers: { ...handled, Vary: 'Authorization' },
});

export const notFound = (kind: string): Answer =>
  answer(404, 'text/plain', `No ${kind} matches the given query.`, handled);

/** Something that the request names is not there, in MAAS' words. */
export const missing = (body: string): Answer => answer(404, utf8Text, body, refused);

export const unknownEndpoint = (path: string): Answer => answer(404, utf8Text, `Unknown API endpoint: ${path}.`, {});

export const wrongOperation = (method: string, op: string | null): Answer =>
  answer(400, utf8Text, `Unrecognised signature: method=${method} op=${op ?? 'None'}`, refused);

export const wrongFormat = (format: string): Answer =>
  answer(400, 'text/plain', `Invalid output format specified '${format}'.`, { ...handled, Vary: 'Authorization' });

export const methodNotAllowed = (allowed: readonly string[]): Answer =>
  answer(405, 'text/html; charset=utf-8', '', { ...handled, Allow: allowed.join(', ') });

/** By field, `__all__` for the request as a whole. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** 400 of a form that did not validate. */
export const invalidForm = (errors: FieldErrors): Answer => answer(400, utf8Json, JSON.stringify(errors), refused);

/** 400 of a check after the form: the same shape, another content type. */
export const invalidRequest = (errors: FieldErrors): Answer =>
  answer(400, 'application/json', JSON.stringify(errors), refused);

export const badRequest = (body: string): Answer => answer(400, utf8Text, body, refused);

/** 401; the body is text although its type is html. */
export const unauthorized = (reason: string): Answer =>
  answer(401, 'text/html; charset=utf-8', `Authorization Error: ${reason}`, {
    ...refused,
    'WWW-Authenticate': 'OAuth realm="OAuth"',
  });

/** Most refusals by permission have an empty body. */
export const forbidden = (body = ''): Answer => answer(403, utf8Text, body, refused);

/** The 409 that is about the machine's state: text, no `Retry-After`. */
export const conflict = (body: string): Answer => answer(409, utf8Text, body, refused);

export const tooLarge = (): Answer => answer(413, utf8Text, 'Request body is larger than 16 MiB', refused);

export const serverError = (body: string): Answer => answer(500, utf8Text, body, refused);

/** 503 for a lasting condition; MAAS sends no `Retry-After` with it. */
export const unavailable = (body: string): Answer => answer(503, utf8Text, body, refused);

/** 503 about power. */
export const powerUnavailable = (hostname: string): Answer =>
  unavailable(`No rack controllers can access the BMC of node ${hostname}`);

/** An answer made after the request's transaction: without `Vary`. */
export const afterCommit = (given: Answer): Answer => ({ ...given, headers: {} });

const page = (title: string, message: string): string => `<!DOCTYPE html>
<html lang="en">
  <head>
    <title>${title}</title>
  </head>
  <body>
    <h2>${message}</h2>
  </body>
</html>
`;

/** The retryable 409: MAAS lost the race for its database ten times; nothing was changed. */
export const databaseConflict = (): Answer =>
  answer(
    409,
    'text/html; charset=utf-8',
    page('Error: Conflict Error', 'Conflict error. Try your request again, as it will most likely succeed.'),
    { 'Retry-After': '5' },
  );

/** The answer of a proxy while MAAS starts: its status is not an error. */
export const webPage = (): Answer => answer(200, 'text/html', page('Welcome', 'It works'), {});

/** The error of a proxy in front of MAAS. */
export const proxyError = (status: 502 | 504): Answer => {
  const reason = status === 502 ? '502 Bad Gateway' : '504 Gateway Time-out';
  return answer(status, 'text/html', page(reason, reason), {});
};

/** A required service is down: here MAAS sends `Retry-After`. */
export const serviceUnavailable = (retryAfter: number | null): Answer =>
  answer(
    503,
    utf8Text,
    'Unable to connect to the rack controller',
    retryAfter === null ? {} : { 'Retry-After': String(retryAfter) },
  );

/** Thrown by a check to end the request with this answer. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(given: Answer) {
    super(`refused with ${given.status}`);
    this.answer = given;
  }
}

export function refuse(given: Answer): never {
  throw new Refused(given);
}
