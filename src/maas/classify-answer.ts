import { isMapping } from '../core/plain-value.js';
import type { MaasFailure, Unauthorised } from './failure.js';
import type { HttpAnswer } from './transport.js';

/** What is needed to judge an answer. */
export interface Exchange {
  /** As in `MaasFailure.request`. */
  readonly request: string;
  readonly changes: boolean;
  readonly answer: HttpAnswer;
  /** Our clock when the answer came, ms since 1970. */
  readonly now: number;
  /** Texts that must not survive in what is kept. */
  readonly secrets: readonly string[];
}

/** The failure that an answer outside 2xx stands for (rules: what MAAS 3.6.5 was seen to answer). */
export function classifyAnswer(exchange: Exchange): MaasFailure {
  const { answer, request, changes } = exchange;
  const { status } = answer;
  const common = { request, status, outcomeUnknown: false, retryable: false };
  if (status === 401) return unauthorised(exchange);
  const text = keptText(exchange);
  if (status === 400) return badRequest(exchange, text);
  if (status === 403) {
    return {
      ...common,
      kind: 'forbidden',
      text: text || 'MAAS refuses this and gives no reason',
      hint: 'the key belongs to a user without the right to do this (not an administrator, or not the owner), or the machine is locked',
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
    // The power work runs after the commit: a refused release has been seen to move the machine.
    return { ...common, kind: 'conflict-state', text: text || 'conflict', outcomeUnknown: changes };
  }
  if (status === 429 || status >= 500) {
    const seconds = retryAfter(exchange);
    return {
      ...common,
      kind: 'unavailable',
      text: text || 'MAAS cannot serve this now',
      outcomeUnknown: changes && status !== 429,
      retryable: status !== 501,
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    };
  }
  if (status >= 300 && status < 400) {
    const hint = 'the URL leads to a redirect; use the address MAAS itself serves, and https where it asks for it';
    return { ...common, kind: 'unexpected', text: text || 'redirect', hint };
  }
  return {
    ...common,
    kind: 'unexpected',
    text: text || 'an answer the MAAS API does not give',
    outcomeUnknown: changes,
  };
}

function badRequest(exchange: Exchange, text: string): MaasFailure {
  const common = { request: exchange.request, status: 400, outcomeUnknown: false, retryable: false };
  const fields = formErrors(exchange);
  if (fields) return { ...common, kind: 'invalid', text: fieldsText(fields), fields };
  // An anonymous handler takes a request whose header is missing or unreadable, and does not know the
  // operation; with an operation that MAAS names, the operation itself is the unknown.
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
  const hint = 'check the MAAS URL: it should end in /MAAS and lead to a MAAS region';
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
    /expired timestamp/i,
    'clock',
    'the request looked too old to MAAS',
    'the clock of this machine or of MAAS is wrong: set both by NTP',
  ],
  [
    /nonce already used/i,
    'nonce-replayed',
    'the request had been sent before',
    'something between us and MAAS repeats requests',
  ],
  [
    /invalid api key|invalid access token|unknown consumer/i,
    'unknown-key',
    'MAAS does not know this API key',
    'it may have been deleted, or belong to another MAAS: create one and configure it',
  ],
];

/** MAAS tolerates 300 s; beyond that the clock is the likeliest reason whatever the text says. */
const clockToleranceSeconds = 300;

function unauthorised(exchange: Exchange): Unauthorised {
  const { answer, request, now } = exchange;
  // The body is looked at and dropped: it has been seen to print the expected signature, which is the secret.
  const known = unauthorisedReasons.find(([pattern]) => pattern.test(answer.body));
  const serverTime = Date.parse(answer.headers.date ?? '');
  const skew = Number.isNaN(serverTime) ? undefined : Math.round((now - serverTime) / 1000);
  const clockIsOff = skew !== undefined && -skew >= clockToleranceSeconds;
  const reason = known?.[1] ?? (clockIsOff ? 'clock' : 'not-recognised');
  // Whatever repeats our requests may have had the first one carried out; a new attempt has a new nonce.
  const wasRepeated = reason === 'nonce-replayed';
  const hint = known?.[3] ?? 'check the API key';
  const clockHint = clockIsOff
    ? `; this machine's clock is ${-skew} s behind that of MAAS, which refuses more than 300`
    : '';
  return {
    kind: 'unauthorised',
    reason,
    request,
    status: 401,
    text: known?.[2] ?? 'MAAS refuses the API key',
    outcomeUnknown: exchange.changes && wasRepeated,
    retryable: wasRepeated,
    hint: `${hint}${clockHint}`,
    ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
  };
}

function formErrors(exchange: Exchange): Record<string, string[]> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(exchange.answer.body);
  } catch {
    return undefined;
  }
  if (!isMapping(parsed)) return undefined;
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
  // A shorter one would tear holes into ordinary words and is no secret worth the name.
  for (const secret of secrets) if (secret.length >= 4) cleaned = cleaned.replaceAll(secret, '[secret]');
  return cleaned.trim().slice(0, longestText);
}

function isHtml(answer: HttpAnswer): boolean {
  return /^\s*<(!doctype|html|head|body|center|h1)/i.test(answer.body);
}

function withoutTags(html: string): string {
  return html
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Seconds, from either form of the header. */
function retryAfter(exchange: Exchange): number | undefined {
  const value = exchange.answer.headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - exchange.now) / 1000));
}
