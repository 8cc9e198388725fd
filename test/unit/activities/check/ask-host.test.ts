import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { type AskHost, hostAsker } from '../../../../activities/check/ask-host.ts';
import type { Question } from '../../../../src/core/checks/answers.ts';

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const served = (answer: Parameters<typeof createServer>[1]): Promise<number> => listening(createServer(answer));
const http = (url: string): Question => ({ kind: 'http', url, status: 200 });

/** As a worker asks, but for its own machine, on which tests have their hosts. */
const asker = (...hosts: string[]): AskHost => hostAsker(hosts, () => false);
const ask = (question: Question, hosts = ['127.0.0.0/8'], ms = 5_000) => asker(...hosts)(question, ms, undefined);

describe('hosts that are asked', () => {
  it('are those that the installation declares, by name or address', async () => {
    let asked = 0;
    const port = await served((_request, answer) => {
      asked += 1;
      answer.end('ok');
    });
    for (const hosts of [[], ['10.0.0.0/8'], ['example.org'], ['*.localhost']]) {
      for (const host of ['127.0.0.1', 'localhost', '127.1', '0x7f.1', '[::ffff:127.0.0.1]'])
        expect(await ask(http(`http://${host}:${port}/`), hosts), `${host} of ${hosts}`).toMatchObject({
          kind: 'none',
        });
      expect(await ask({ kind: 'tcp', host: '127.0.0.1', port }, hosts)).toMatchObject({ kind: 'none' });
    }
    expect(asked).toBe(0);
    expect(await ask(http(`http://127.0.0.1:${port}/`))).toMatchObject({ kind: 'http', status: 200, body: 'ok' });
    expect(await ask(http(`http://LOCALHOST:${port}/`), ['localhost'])).toMatchObject({ kind: 'http' });
    expect(await ask({ kind: 'tcp', host: '127.0.0.1', port })).toEqual({ kind: 'connected' });
    expect(asked).toBe(2);
  });

  it('are never the own machine and its links, whatever is declared', async () => {
    const port = await served((_request, answer) => answer.end('ok'));
    const everything = hostAsker(['0.0.0.0/0', '::/0', 'localhost', 'own.example']);
    const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
    const local = ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::', '169.254.169.254', 'fe80::1', '224.0.0.1'];
    const hidden = [
      '::ffff:127.0.0.1',
      '::ffff:169.254.169.254',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '255.255.255.255',
    ];
    for (const host of [...own, ...local, ...hidden])
      expect(await everything({ kind: 'tcp', host, port }, 5_000, undefined), host).toMatchObject({ kind: 'none' });
  });

  it('are asked by the name that the document says, at the address that was resolved', async () => {
    const port = await served((request, answer) =>
      answer.end(`${request.method} ${request.headers.host} ${request.url}`),
    );
    const answer = await ask(http(`http://localhost:${port}/a?b=c`), ['localhost']);
    expect(answer).toMatchObject({ kind: 'http', body: `GET localhost:${port} /a?b=c`, isWhole: true });
  });
});

describe('an answer', () => {
  it('of a redirect is not followed', async () => {
    let asked = 0;
    const port = await served((_request, answer) => {
      asked += 1;
      answer.writeHead(302, { location: `http://127.0.0.1:${port}/again` }).end();
    });
    expect(await ask(http(`http://127.0.0.1:${port}/`))).toMatchObject({ kind: 'http', status: 302 });
    expect(asked).toBe(1);
  });

  it('without an end is read as far as 64 KB', async () => {
    const port = await served((_request, answer) => {
      const more = (): void =>
        void (answer.write('x'.repeat(10_000)) ? setImmediate(more) : answer.once('drain', more));
      more();
    });
    const answer = await ask(http(`http://127.0.0.1:${port}/`));
    expect(answer).toMatchObject({ kind: 'http', status: 200, isWhole: false });
    expect(answer.kind === 'http' && answer.body.length).toBe(64 * 1024);
  });

  it('that does not come in time is none', async () => {
    const port = await served(() => undefined);
    const silent = await listening(createTcpServer(() => undefined));
    expect(await ask(http(`http://127.0.0.1:${port}/`), undefined, 100)).toMatchObject({ kind: 'none' });
    expect(await ask(http(`http://127.0.0.1:${silent}/`), undefined, 100)).toMatchObject({ kind: 'none' });
  });

  it('that nobody waits for any more is none, at once', async () => {
    const port = await served(() => undefined);
    const ended = AbortSignal.abort();
    expect(await asker('127.0.0.1')(http(`http://127.0.0.1:${port}/`), 60_000, ended)).toMatchObject({ kind: 'none' });
  });

  it('that is not HTTP is none, and a closed port one that is not good', async () => {
    const port = await listening(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')));
    expect(await ask(http(`http://127.0.0.1:${port}/`))).toMatchObject({ kind: 'none' });
    servers.pop()!.close();
    expect(await ask({ kind: 'tcp', host: '127.0.0.1', port })).toEqual({ kind: 'refused' });
  });

  it('of Prometheus is asked for by its API', async () => {
    const port = await served((request, answer) => answer.end(request.url));
    const question: Question = {
      kind: 'prometheus',
      url: `http://127.0.0.1:${port}/prom/`,
      query: 'up == 1',
      is: { above: 0 },
    };
    expect(await ask(question)).toMatchObject({ body: '/prom/api/v1/query?query=up+%3D%3D+1' });
  });
});
