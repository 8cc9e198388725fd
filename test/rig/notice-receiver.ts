import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NoticeBody } from '../../src/core/contracts/notices.ts';

/** A notice as a receiver got it. */
export interface ReceivedNotice {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: NoticeBody;
}

/** A program that receives notices over HTTP, with the answers that a test gives. */
export interface NoticeReceiver {
  readonly url: string;
  readonly received: readonly ReceivedNotice[];
  /** Statuses of its next answers; afterwards 204. */
  readonly answers: number[];
  /** Resolves once it has received this number. */
  count(notices: number): Promise<void>;
  /** Ends all connections and listens no longer. */
  close(): Promise<void>;
}

export async function noticeReceiver(): Promise<NoticeReceiver> {
  const received: ReceivedNotice[] = [];
  const answers: number[] = [];
  let waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      response.writeHead(answers.shift() ?? 204, { location: 'http://127.0.0.1:1/' }).end();
      for (const go of waiting.splice(0)) go();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks/T0/very-secret-path`,
    received,
    answers,
    async count(notices) {
      while (received.length < notices) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async close() {
      waiting = [];
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
