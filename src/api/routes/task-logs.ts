import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { type OutputStream, readableText } from '../../agent/index.ts';
import type { LogPart } from '../../agent/output/task-logs.ts';
import type { LogEvent, runRoutes } from '../../core/contracts/runs.ts';
import { MarkedOutput } from '../../core/text/marked-output.ts';
import type { Operations } from '../../ops/index.ts';
import { clientGone } from '../requests/client-gone.ts';
import { isTrue } from '../requests/given.ts';
import type { Asked } from '../serve.ts';

const EVENTS = 'text/event-stream';

/** Output of a task: as it was written, or as events with offsets, gaps and the end. */
export const taskLog =
  (taskLogs: Operations['taskLogs']) =>
  async (request: Asked<(typeof runRoutes)['GET /runs/:run/nodes/:node/tasks/:task/log']>, reply: FastifyReply) => {
    const { follow, ...rest } = request.query;
    const { attempt, parts } = await taskLogs.open({
      ...request.params,
      follow: isTrue(follow) ?? false,
      stop: clientGone(reply),
      ...rest,
    });
    const asEvents = (request.headers.accept ?? '').includes(EVENTS);
    return reply
      .header('x-sitewright-attempt', String(attempt))
      .header('cache-control', 'no-store')
      .type(asEvents ? EVENTS : 'text/plain; charset=utf-8')
      .send(Readable.from(asEvents ? events(parts) : plain(parts, rest.stream === undefined), { objectMode: false }));
  };

async function* plain(parts: AsyncGenerator<LogPart>, isMarked: boolean): AsyncGenerator<Uint8Array> {
  const marked = new MarkedOutput();
  for await (const part of parts) {
    if (part.kind === 'gap') yield Buffer.from(`\n[${part.to - part.offset} bytes were dropped]\n`);
    if (part.kind !== 'output') continue;
    // Any bytes, as characters of one byte. The buffer of a part is used again for the next.
    yield isMarked
      ? Buffer.from(marked.add(part.stream, part.bytes.toString('latin1')), 'latin1')
      : Buffer.from(part.bytes);
  }
}

/** The start of a character at the end of what was read of a stream: it waits for the rest. */
interface Held {
  readonly bytes: Buffer;
  readonly offset: number;
  /** Where to resume to get the whole character. */
  readonly at: number;
}

async function* events(parts: AsyncGenerator<LogPart>): AsyncGenerator<string> {
  const held = new Map<OutputStream, Held>();
  const sent = (next: number, { event, data }: LogEvent) => {
    const id = Math.min(next, ...[...held.values()].map(({ at }) => at));
    return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  };
  const rest = (stream: OutputStream, next: number): string[] => {
    const { bytes, offset } = held.get(stream) ?? { bytes: Buffer.alloc(0), offset: 0 };
    held.delete(stream);
    return bytes.length === 0
      ? []
      : [sent(next, { event: 'output', data: { stream, offset, text: readableText(bytes) } })];
  };
  let next = 0;
  for await (const part of parts) {
    if (part.kind === 'ended') {
      for (const stream of held.keys()) yield* rest(stream, next);
      yield sent(next, { event: 'ended', data: { outcome: part.result.outcome, message: part.result.message } });
      continue;
    }
    const { stream, offset } = part;
    next = part.next;
    if (part.kind === 'gap') {
      yield* rest(stream, next - (part.to - offset));
      yield sent(next, { event: 'gap', data: { stream, offset, to: part.to } });
      continue;
    }
    const before = held.get(stream);
    const bytes = Buffer.concat([before?.bytes ?? Buffer.alloc(0), part.bytes]);
    const cut = unfinished(bytes);
    held.delete(stream);
    if (cut > 0)
      held.set(stream, {
        bytes: Buffer.from(bytes.subarray(bytes.length - cut)),
        offset: offset + part.bytes.length - cut,
        at: cut > part.bytes.length ? before!.at : next - cut,
      });
    const text = readableText(bytes.subarray(0, bytes.length - cut));
    if (text !== '') yield sent(next, { event: 'output', data: { stream, offset: before?.offset ?? offset, text } });
  }
  for (const stream of held.keys()) yield* rest(stream, next);
}

/** Bytes at the end that begin a character and are not all of it. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}
