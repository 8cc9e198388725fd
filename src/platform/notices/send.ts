import { createHmac } from 'node:crypto';
import type { NoticeBody } from '../../core/contracts/notices.ts';
import type { Receiver } from './receivers.ts';

/** Answer of a receiver. */
interface Sending {
  readonly delivered: boolean;
  readonly status: number | null;
  /** Why not. Without the address, which may be a secret. */
  readonly message: string | null;
}

const ANSWER_MS = 10_000;

/** `t=SECONDS,v1=HEX`: the HMAC-SHA256 of the delivery's id, the time and the body, with dots between them. */
const signatureOf = (secret: string, delivery: string, seconds: number, body: string): string =>
  `t=${seconds},v1=${createHmac('sha256', secret).update(`${delivery}.${seconds}.${body}`).digest('hex')}`;

/** Sends a notice once. Follows no redirect, and reads nothing of the answer but its status. */
export async function sendNotice(
  receiver: Receiver,
  notice: NoticeBody,
  attempt: number,
  signal?: AbortSignal,
): Promise<Sending> {
  const body = JSON.stringify(receiver.format === 'text' ? { text: notice.text } : notice);
  const { secret } = receiver;
  // Each attempt has its own, so that a receiver can refuse what it has seen.
  const delivery = `${notice.id}/${attempt}`;
  const limit = AbortSignal.timeout(ANSWER_MS);
  try {
    const answer = await fetch(receiver.url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Sitewright',
        'sitewright-event': notice.event,
        'sitewright-notice': notice.id,
        'sitewright-attempt': String(attempt),
        'sitewright-delivery': delivery,
        ...(secret === undefined
          ? {}
          : { 'sitewright-signature': signatureOf(secret, delivery, Math.floor(Date.now() / 1000), body) }),
      },
      body,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    await answer.body?.cancel();
    const { status } = answer;
    if (answer.ok) return { delivered: true, status, message: null };
    const moved = status >= 300 && status < 400;
    return {
      delivered: false,
      status,
      message: moved ? `it answered ${status}: redirects are not followed` : `it answered ${status}`,
    };
  } catch (error) {
    if (signal?.aborted) throw error;
    const message = limit.aborted
      ? `no answer within ${ANSWER_MS / 1000} s`
      : `it cannot be reached (${codeOf(error)})`;
    return { delivered: false, status: null, message };
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'network error';
}
