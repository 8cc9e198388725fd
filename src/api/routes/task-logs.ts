import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { readableText } from '../../agent/index.ts';
import type { LogPart } from '../../agent/logs/task-logs.ts';
import type { LogEvent, runRoutes } from '../../core/contracts/run.ts';
import type { Operations } from '../../ops/index.ts';
import { isTrue } from '../requests/given.ts';
import type { Asked } from '../serve.ts';

const EVENTS = 'text/event-stream';

/** Output of a task: as it was written, or as events with offsets, gaps and the end. */
export const taskLog =
  (taskLogs: Operations['taskLogs']) =>
  async (request: Asked<(typeof runRoutes)['GET /runs/:run/nodes/:node/tasks/:task/log']>, reply: FastifyReply) => {
    const { follow, stream = 'stdout', ...rest } = request.query;
    const stop = new AbortController();
    request.raw.socket.once('close', () => stop.abort());
    const { attempt, parts } = await taskLogs.open({
      ...request.params,
      stream,
      follow: isTrue(follow) ?? false,
      stop: stop.signal,
      ...rest,
    });
    const asEvents = (request.headers.accept ?? '').includes(EVENTS);
    return reply
      .header('x-sitewright-attempt', String(attempt))
      .header('cache-control', 'no-store')
      .type(asEvents ? EVENTS : 'text/plain; charset=utf-8')
      .send(Readable.from(asEvents ? events(parts) : plain(parts), { objectMode: false }));
  };

async function* plain(parts: AsyncGenerator<LogPart>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    // The buffer of a part is used again for the next.
    if (part.kind === 'output') yield Buffer.from(part.bytes);
    if (part.kind === 'gap') yield Buffer.from(`\n[${part.to - part.offset} bytes were dropped]\n`);
  }
}

async function* events(parts: AsyncGenerator<LogPart>): AsyncGenerator<string> {
  const sent = (id: number, { event, data }: LogEvent) =>
    `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  let at = 0;
  // A character may be cut by the end of a part: the remainder waits for the rest.
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of parts) {
    if (part.kind === 'output') {
      const bytes = Buffer.concat([rest, part.bytes]);
      const whole = bytes.length - unfinished(bytes);
      rest = Buffer.from(bytes.subarray(whole));
      at = part.offset + part.bytes.length;
      if (whole > 0)
        yield sent(at - rest.length, {
          event: 'output',
          data: {
            offset: at - bytes.length,
            text: readableText(bytes.subarray(0, whole)),
          },
        });
      continue;
    }
    if (rest.length > 0)
      yield sent(at, { event: 'output', data: { offset: at - rest.length, text: readableText(rest) } });
    rest = Buffer.alloc(0);
    if (part.kind === 'gap') {
      at = part.to;
      yield sent(at, { event: 'gap', data: { offset: part.offset, to: part.to } });
    } else {
      yield sent(at, { event: 'ended', data: { outcome: part.result.outcome, message: part.result.message } });
    }
  }
  if (rest.length > 0)
    yield sent(at, { event: 'output', data: { offset: at - rest.length, text: readableText(rest) } });
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
