import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { changes, isForThisMachine, isFromOwnPage } from '../own-pages.ts';

interface GuardedUi {
  /** Where browsers reach it. */
  readonly host: string;
  readonly port: number;
  /** Where the Web UI listens. */
  readonly target: { readonly host: string; readonly port: number };
  /** Names of the guard beyond those of this machine. */
  readonly names?: readonly string[];
}

interface UiGuard {
  readonly port: number;
  /** The guard does not keep its process running. */
  unref(): void;
  close(): Promise<void>;
}

/**
 * Serves Temporal's Web UI, which knows no users and does not ask whose page sends a request, to its own page only: under names of
 * this machine, so that no other name can be pointed here (DNS rebinding), and to pages of other sites nothing but links.
 *
 * @throws the error of `listen`
 */
export async function guardWebUi({ host, port, target, names = [] }: GuardedUi): Promise<UiGuard> {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const server = createServer((asked, answer) => {
    const isNamed = isForThisMachine(asked) || known.has(String(asked.headers.host).toLowerCase());
    const why = isNamed ? whyForeign(asked) : 'This page is served under names of this machine only';
    if (why === undefined) return forward(asked, answer, target);
    answer.writeHead(403, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${why}.\n`);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: bound } = server.address() as { port: number };
  return {
    port: bound,
    unref: () => void server.unref(),
    async close() {
      server.closeAllConnections();
      if (server.listening) await once(server.close(), 'close');
    },
  };
}

function whyForeign(asked: IncomingMessage): string | undefined {
  const head = { method: asked.method ?? 'GET', headers: asked.headers };
  if (changes(head) && !isFromOwnPage(head, 'http'))
    return 'Only the page of the Temporal Web UI may change something here';
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = asked.headers;
  if (site === 'cross-site' && mode !== 'navigate') return 'Pages of other sites may only link to this one';
  return undefined;
}

function forward(asked: IncomingMessage, answer: ServerResponse, target: GuardedUi['target']): void {
  const { method, url: path, headers } = asked;
  const onward = request({ ...target, method, path, headers, agent: false }, (came) => {
    answer.writeHead(came.statusCode ?? 502, came.headers);
    pipeline(came, answer, () => undefined);
  });
  onward.once('error', () => {
    if (answer.headersSent) return void answer.destroy();
    answer
      .writeHead(502, { 'content-type': 'text/plain; charset=utf-8' })
      .end('The Temporal Web UI does not answer.\n');
  });
  // A browser that has gone waits for nothing.
  answer.once('close', () => onward.destroy());
  pipeline(asked, onward, () => undefined);
}
