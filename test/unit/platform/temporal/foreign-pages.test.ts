import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DevServer, startDevServer } from '../../../../src/platform/temporal/dev-server.ts';
import { explainMissing, findTemporalBinary } from '../../../../src/platform/temporal/find-server.ts';

const START = '/api/v1/namespaces/default/workflows/';
const BODY = JSON.stringify({ workflowType: { name: 'none' }, taskQueue: { name: 'none' }, requestId: '1' });

describe('pages of other sites, and Temporal beside `up`', { timeout: 180_000 }, () => {
  let folder: string;
  let server: DevServer;
  let connection: Connection;
  let ownPort: number;

  beforeAll(async () => {
    const found = await findTemporalBinary();
    if (found.status === 'missing') throw new Error(explainMissing(found));
    folder = await mkdtemp(join(tmpdir(), 'sitewright-foreign-pages-'));
    server = await startDevServer({ binary: found.path, logFile: join(folder, 'temporal.log') });
    ownPort = Number(new URL(server.uiUrl ?? '').port);
    connection = await Connection.connect({ address: server.address });
  }, 1_800_000);
  afterAll(async () => {
    await connection.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const isStarted = (workflowId: string): Promise<boolean> =>
    connection.workflowService.describeWorkflowExecution({ namespace: 'default', execution: { workflowId } }).then(
      () => true,
      () => false,
    );

  /** As the browser sends what a page of this host asks for, with the page's cookie. */
  const ofPage = (host: string, cookie = '') => ({
    host,
    cookie,
    origin: `http://${host}`,
    'sec-fetch-site': 'same-origin',
    'x-csrf-token': cookie.replace('_csrf=', ''),
    'content-type': 'application/json',
  });

  it.skipIf(process.platform !== 'linux')('start no run, on whichever port of this machine they ask', async () => {
    const listening = await listeningOf(server.pid);
    const onLoopback = listening.filter(({ host }) => host === '127.0.0.1').map(({ port }) => port);
    expect(onLoopback).toContain(Number(server.address.split(':')[1]));
    for (const port of new Set([...onLoopback, ownPort])) {
      // A page that guesses: the request is simple, so that no browser asks first.
      const blind = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' };
      await ask(port, { method: 'POST', path: `${START}blind-${port}`, headers: blind });
      expect(await isStarted(`blind-${port}`)).toBe(false);
      // A page whose name leads here meanwhile: to the browser it is the same site.
      const host = `evil.example:${port}`;
      const page = await ask(port, { headers: { host } });
      const headers = ofPage(host, page?.cookie);
      await ask(port, { method: 'POST', path: `${START}rebound-${port}`, headers });
      expect(await isStarted(`rebound-${port}`)).toBe(false);
    }
  });

  it.skipIf(process.platform !== 'linux')('do not find the Web UI itself, which has an address by chance', async () => {
    const elsewhere = (await listeningOf(server.pid)).filter(({ host }) => host !== '127.0.0.1');
    expect(elsewhere).toHaveLength(1);
    expect(elsewhere[0]?.host).toMatch(/^127\.\d+\.\d+\.\d+$/);
  });

  it('are refused by the Web UI under their own name, and in what they ask for or change', async () => {
    const name = `127.0.0.1:${ownPort}`;
    const status = async (method: string, headers: Readonly<Record<string, string>>, path = '/') =>
      (await ask(ownPort, { method, path, headers: { host: name, ...headers } }))?.status;
    expect(await status('GET', { host: `evil.example:${ownPort}` })).toBe(403);
    expect(
      await status('GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, '/api/v1/settings'),
    ).toBe(403);
    expect(await status('POST', { 'sec-fetch-site': 'same-site' }, `${START}x`)).toBe(403);
    expect(await status('POST', { origin: 'http://127.0.0.1:1' }, `${START}x`)).toBe(403);
    expect(await status('POST', { origin: 'null' }, `${START}x`)).toBe(403);
    // A link of another site leads there, and so do names of this machine.
    expect(await status('GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200);
    expect(await status('GET', { host: `localhost:${ownPort}` })).toBe(200);
  });

  it('leave the Web UI as it is: its own page reads and starts', async () => {
    const host = `127.0.0.1:${ownPort}`;
    const page = await ask(ownPort, { headers: { host, 'sec-fetch-site': 'none' } });
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<html') });
    const headers = ofPage(host, page?.cookie);
    // The UI finds its server within seconds.
    await expect
      .poll(async () => (await ask(ownPort, { method: 'POST', path: `${START}own`, headers }))?.status, {
        timeout: 60_000,
      })
      .toBe(200);
    expect(await isStarted('own')).toBe(true);
  });
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a browser sends; undefined where no HTTP is spoken. */
function ask(
  port: number,
  { method = 'GET', path = '/', headers }: Asked,
): Promise<{ status: number; cookie: string; text: string } | undefined> {
  return new Promise((done) => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('error', () => done(undefined));
      answer.on('end', () =>
        done({ status: answer.statusCode ?? 0, cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '', text }),
      );
    });
    asked.on('error', () => done(undefined));
    asked.end(method === 'GET' ? undefined : BODY);
  });
}

/** All addresses at which a process listens. */
async function listeningOf(pid: number): Promise<readonly { readonly host: string; readonly port: number }[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  const rows = (await readFile('/proc/net/tcp', 'utf8')).trim().split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    if (state !== '0A' || !links.includes(`socket:[${inode}]`)) return [];
    const [address = '', port = ''] = local.split(':');
    const host = (address.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16));
    return [{ host: host.join('.'), port: Number.parseInt(port, 16) }];
  });
}
