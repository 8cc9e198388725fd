import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StubRequest {
  readonly method: string;
  /** Path and query below `/api/v1`. */
  readonly at: string;
  readonly body: unknown;
  readonly user: string | undefined;
}

/** The answer: a status and a body; `null` closes the connection without an answer. */
export type StubAnswer = readonly [status: number, body: unknown] | null;

export interface StubApi {
  readonly url: string;
  readonly requests: StubRequest[];
  close(): Promise<void>;
}

/** An API whose answers the test controls. */
export async function stubApi(answer: (request: StubRequest) => StubAnswer): Promise<StubApi> {
  const requests: StubRequest[] = [];
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(message);
    const request: StubRequest = {
      method: message.method ?? '',
      at: (message.url ?? '').replace(/^\/api\/v1/, ''),
      body: text === '' ? undefined : JSON.parse(text),
      user: message.headers['x-sitewright-user'] as string | undefined,
    };
    requests.push(request);
    const given = answer(request);
    if (given === null) {
      response.destroy();
      return;
    }
    const [status, body] = given;
    response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer((message, response) => void serve(message, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** As the API answers: its `message` holds the hint, too. */
export const problem = (
  code: string,
  status: number,
  detail: string,
  more: { readonly hint?: string; readonly [field: string]: unknown } = {},
): StubAnswer => [
  status,
  {
    type: `urn:sitewright:problem:${code}`,
    title: code,
    status,
    detail,
    code,
    message: more.hint === undefined ? detail : `${detail}. ${more.hint}`,
    ...more,
  },
];

export const RUN_ID = '0199aaaa-0000-7000-8000-000000000001';

export const runRecord = (more: object = {}): Record<string, unknown> => ({
  id: RUN_ID,
  number: 12,
  workflow_id: 'deploy_site:dc1',
  temporal_run_id: RUN_ID,
  temporal_url: 'http://ui.test/run',
  kind: 'deploy_site',
  site: 'dc1',
  revision: 3,
  title: null,
  labels: {},
  cluster: null,
  phase: 'baremetal',
  outcome: null,
  started_by: 'ann',
  reason: null,
  started_at: '2026-01-02T03:04:05.000Z',
  ended_at: null,
  failed_nodes: null,
  ...more,
});

export const runStatus = (more: object = {}): Record<string, unknown> => ({
  site: 'dc1',
  phase: 'baremetal',
  paused: null,
  stopping: false,
  done: 0,
  total: 2,
  counts: { waiting: 2, not_reached: 0, prepared: 0, success: 0, failed: 0 },
  failed: [],
  current: { group: 'g', call: 'prepare', running: ['a', 'b'], waiting: 0 },
  groups: [{ name: 'g', critical: true, state: 'waiting' }],
  ...more,
});
