import type { MaasFailure, Unauthorised } from './failure.ts';
import { isObject } from './lenient.ts';
import type { HttpAnswer } from './transport.ts';

/** An answer and the data to classify it. */
interface Exchange {
  /** As in `MaasFailure.request`. */
  readonly request: string;
  readonly changes: boolean;
  readonly answer: HttpAnswer;
  /** Our clock when the answer arrived, ms since 1970. */
  readonly now: number;
  /** How long a key that was accepted before has been refused, in ms; absent where the answer is not about the key, or it never was. */
  readonly keyRefusedMs?: number | undefined;
  /** Texts to remove from stored answers. */
  readonly secrets: readonly string[];
}

/** The failure for an answer outside 2xx (rules from recorded answers of MAAS 3.6.5). */
export function classifyAnswer(exchange: Exchange): MaasFailure {
  const { answer, request, changes } = exchange;
  const { status } = answer;
  const common = { request, status, outcomeUnknown: false, retryable: false };
  if (status === 401 || exchange.keyRefusedMs !== undefined) return clockFailure(exchange) ?? unauthorised(exchange);
  const text = keptText(exchange);
  if (status === 400) return badRequest(exchange, text);
  if (status === 403) {
    return {
      ...common,
      kind: 'forbidden',
      text: text || 'MAAS refuses this without a reason',
      hint: 'the user of the key lacks the permission (not an administrator, or not the owner), or the machine is locked',
    };
  }
  if (status === 404) return notFound(exchange, text);
  if (status === 405) {
    const said = text || 'method not allowed';
    return { ...common, kind: 'no-such-endpoint', text: said, hint: 'this MAAS does not know the operation' };
  }
  if (status === 409) {
    const seconds = retryAfter(exchange);
    if (seconds !== undefined || isHtml(answer)) {
      return {
        ...common,
        kind: 'conflict-retry',
        text: text || 'conflict error',
        retryable: true,
        retryAfterSeconds: seconds ?? 5,
      };
    }
    // Power calls run after the commit: a refused release may still have changed the machine's state.
    return { ...common, kind: 'conflict-state', text: text || 'conflict', outcomeUnknown: changes };
  }
  if (status === 429 || status >= 500) {
    const seconds = retryAfter(exchange);
    return {
      ...common,
      kind: 'unavailable',
      text: text || 'MAAS cannot handle this now',
      outcomeUnknown: changes && status !== 429,
      retryable: status !== 501,
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    };
  }
  if (status >= 300 && status < 400) {
    const hint = 'the URL redirects; use the final address of MAAS, with https if it requires that';
    return { ...common, kind: 'unexpected', text: text || 'redirect', hint };
  }
  return {
    ...common,
    kind: 'unexpected',
    text: text || 'not an answer of the MAAS API',
    outcomeUnknown: changes,
  };
}

/** From a proxy in front of a MAAS that is away. MAAS itself answers 503 where no rack reaches a machine, and then answers readings. */
const AWAY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** MAAS answers these in HTML, too; all else in JSON or as text. */
const HTML_OF_MAAS: ReadonlySet<number> = new Set([401, 405, 409]);

/** Whether MAAS itself answered, and not something in front of it or in its place. */
export function isOfMaas({ status, body, headers }: HttpAnswer): boolean {
  if (AWAY.has(status) || (status >= 300 && status < 400)) return false;
  if (status >= 400) return HTML_OF_MAAS.has(status) || !isHtml({ status, body, headers });
  const text = body.trim();
  return text === '' || '[{"-0123456789'.includes(text.charAt(0)) || ['true', 'false', 'null'].includes(text);
}

/** MAAS' answer of a handler that takes requests without a key. */
export const isUnrecognised = ({ status, body }: Pick<HttpAnswer, 'status' | 'body'>): boolean =>
  status === 400 && /^\s*Unrecognised signature: method=/.test(body);

function badRequest(exchange: Exchange, text: string): MaasFailure {
  const common = { request: exchange.request, status: 400, outcomeUnknown: false, retryable: false };
  const fields = formErrors(exchange);
  if (fields) return { ...common, kind: 'invalid', text: fieldsText(fields), fields };
  // An anonymous handler receives a request with a missing or unreadable header, and does not know the
  // operation. If MAAS names the operation, the operation itself is unknown.
  const unrecognised = /^Unrecognised signature: method=\S+ op=(\S+)/.exec(text);
  if (unrecognised?.[1] === 'None') {
    const hint = 'MAAS did not recognise the request as signed: check that no proxy removes the Authorization header';
    return { ...common, kind: 'unauthorised', reason: 'not-recognised', text, hint };
  }
  if (unrecognised) {
    const hint = 'this MAAS does not know the operation, or the Authorization header did not reach it';
    return { ...common, kind: 'no-such-endpoint', text, hint };
  }
  return { ...common, kind: 'invalid', text: text || 'bad request', fields: { __all__: [text || 'bad request'] } };
}

function notFound(exchange: Exchange, text: string): MaasFailure {
  const common = { request: exchange.request, status: 404, outcomeUnknown: false, retryable: false };
  const what = /^No (.+?) matches the given query/.exec(text)?.[1];
  if (what) return { ...common, kind: 'not-found', what, text };
  // MAAS answers so for an address that someone has (recorded, 3.6.5).
  if (/already in use|within the reserved range/.test(text))
    return { ...common, kind: 'invalid', fields: { ip_address: [text] }, text };
  // A removed partition has no text.
  if (text === '' && /^\w+ nodes\//.test(exchange.request))
    return { ...common, kind: 'not-found', what: 'Partition', text: 'MAAS has it no more' };
  const hint = 'check the MAAS URL: it should end in /MAAS and point to a MAAS region';
  return { ...common, kind: 'no-such-endpoint', text: text || 'not found', hint };
}

const unauthorisedReasons: readonly (readonly [RegExp, Unauthorised['reason'], string, string])[] = [
  [
    /invalid signature|missing signature/i,
    'wrong-secret',
    'the third part of the API key is wrong',
    'copy the key again',
  ],
  [
    /nonce already used/i,
    'nonce-replayed',
    'the request was sent before',
    'something between Sitewright and MAAS repeats requests',
  ],
  [
    /invalid api key|invalid access token|unknown consumer/i,
    'unknown-key',
    'MAAS does not know this API key',
    'it may have been deleted, or belong to another MAAS: create one and configure it',
  ],
];

/** MAAS refuses requests that look older. */
const CLOCK_TOLERANCE_SECONDS = 300;

/** Our clock minus that of MAAS, in seconds. Undefined if the answer does not show it. */
function skewOf({ answer, now }: Pick<Exchange, 'answer' | 'now'>): number | undefined {
  const serverTime = Date.parse(answer.headers.date ?? '');
  return Number.isNaN(serverTime) ? undefined : Math.round((now - serverTime) / 1000);
}

/**
 * The failure of an answer while our clock and that of MAAS differ by more than MAAS tolerates. MAAS refuses requests
 * from the past only; a clock that is ahead takes old events of a machine for new ones.
 */
export function clockFailure(exchange: Exchange): MaasFailure | undefined {
  return isClockWrong(exchange) ? workerClock(exchange, skewOf(exchange)) : undefined;
}

/** Whether the clocks differ by more than MAAS tolerates, as far as the answer shows it. */
export const isClockWrong = (exchange: Pick<Exchange, 'answer' | 'now'>): boolean =>
  Math.abs(skewOf(exchange) ?? 0) >= CLOCK_TOLERANCE_SECONDS;

function workerClock({ request, answer, changes }: Exchange, skew: number | undefined): MaasFailure {
  const differs = skew === undefined ? 'differs from' : `is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'}`;
  return {
    kind: 'worker-clock',
    request,
    status: answer.status,
    text: `the clock of this machine ${differs} that of MAAS: it takes no steps until the clocks agree`,
    outcomeUnknown: changes && answer.status < 300,
    retryable: true,
    hint: 'synchronise both clocks with NTP; no machine is at fault',
    ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
  };
}

function unauthorised(exchange: Exchange): MaasFailure {
  const { answer, request } = exchange;
  // The body is checked and dropped: it can contain the expected signature, which is the secret.
  if (/expired timestamp/i.test(answer.body)) return workerClock(exchange, skewOf(exchange));
  const known = unauthorisedReasons.find(([pattern]) => pattern.test(answer.body));
  const reason = known?.[1] ?? 'not-recognised';
  // If our requests are repeated on the way, the first copy may have been executed. A new attempt has a new nonce.
  const wasRepeated = reason === 'nonce-replayed';
  const text = known?.[2] ?? 'MAAS refuses the API key';
  const { keyRefusedMs } = exchange;
  const seconds = Math.round((keyRefusedMs ?? 0) / 1000);
  return {
    kind: 'unauthorised',
    reason,
    request,
    status: answer.status,
    text: keyRefusedMs === undefined ? text : `${text}, which it took before; it was read again for ${seconds} s`,
    outcomeUnknown: exchange.changes && wasRepeated,
    retryable: wasRepeated,
    hint:
      keyRefusedMs === undefined
        ? (known?.[3] ?? 'check the API key')
        : 'the key was deleted, or its user is inactive at the provider of identities: put a valid key in place, and start again',
  };
}

function formErrors(exchange: Exchange): Record<string, string[]> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(exchange.answer.body);
  } catch {
    return undefined;
  }
  if (!isObject(parsed)) return undefined;
  const fields: Record<string, string[]> = {};
  for (const [field, said] of Object.entries(parsed)) {
    const texts: unknown[] = Array.isArray(said) ? said : [said];
    fields[field] = texts.map((text) =>
      clean(typeof text === 'string' ? text : JSON.stringify(text), exchange.secrets),
    );
  }
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function fieldsText(fields: Readonly<Record<string, readonly string[]>>): string {
  const parts = Object.entries(fields).map(([field, texts]) =>
    field === '__all__' ? texts.join(' ') : `${field}: ${texts.join(' ')}`,
  );
  return parts.join('; ').slice(0, longestText);
}

const longestText = 2000;

function keptText(exchange: Exchange): string {
  const { answer, secrets } = exchange;
  return clean(isHtml(answer) ? withoutTags(answer.body) : answer.body, secrets);
}

function clean(text: string, secrets: readonly string[]): string {
  let cleaned = text;
  // Replacing a shorter one would damage ordinary words, and it is not a real secret.
  for (const secret of secrets) if (secret.length >= 4) cleaned = cleaned.replaceAll(secret, '[secret]');
  return cleaned.trim().slice(0, longestText);
}

function isHtml(answer: HttpAnswer): boolean {
  return /^\s*<(!doctype|html|head|body|center|h1)/i.test(answer.body);
}

function withoutTags(html: string): string {
  let text = '';
  let from = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', from)) {
    const end = endOfTag(html, at);
    // An unclosed tag is text.
    if (end === undefined) break;
    text += `${html.slice(from, at)} `;
    from = end;
  }
  return (text + html.slice(from)).replace(/\s+/g, ' ').trim();
}

const UNSHOWN = [
  { starts: /<script\b/iy, ends: /<\/script>/gi },
  { starts: /<style\b/iy, ends: /<\/style>/gi },
];

/** After a tag; of scripts and styles, after the whole element. */
function endOfTag(html: string, at: number): number | undefined {
  for (const { starts, ends } of UNSHOWN) {
    starts.lastIndex = ends.lastIndex = at;
    if (starts.test(html) && ends.test(html)) return ends.lastIndex;
  }
  const end = html.indexOf('>', at);
  return end < 0 ? undefined : end + 1;
}

/** Seconds, from either form of the header. */
function retryAfter(exchange: Exchange): number | undefined {
  const value = exchange.answer.headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - exchange.now) / 1000));
}
