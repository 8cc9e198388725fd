import { expect, it } from 'vitest';
import { callTemporal, requestOfTemporal } from '../../../src/ops/temporal-calls.ts';

const grpc = (code: number, details: string): Error =>
  Object.assign(new Error(details), { code, details, metadata: {} });

/** A server that answers health checks, or not. */
const server = (isThere: boolean) =>
  ({
    address: '127.0.0.1:7233',
    namespace: 'default',
    connection: {
      withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
      workflowService: {
        getSystemInfo: () => (isThere ? Promise.resolve({}) : Promise.reject(grpc(14, 'gone'))),
      },
    },
  }) as unknown as Parameters<typeof callTemporal>[0];

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was thrown',
    (error: Error) => error.message,
  );

it.each([
  ['the connection broke', 14, true],
  ['no answer came in time, and the server is gone', 4, false],
  ['no answer came in time, and the server is there: no worker answers', 4, true],
  ['the call was cancelled by the server at its deadline', 1, true],
  ['an error of the server', 13, true],
])('a request whose answer is lost is reported as possibly executed: %s', async (_why, code, isThere) => {
  const fails = () => Promise.reject(grpc(code, 'lost'));
  expect(await messageOf(requestOfTemporal(server(isThere), fails))).toMatch(
    /the request may have been executed: check/,
  );
  expect(await messageOf(callTemporal(server(isThere), fails))).not.toMatch(/may have been taken/);
});

it.each([
  ['the server has no capacity', 8],
  ['the server refused it', 3],
])('a refused request is not reported as possibly executed: %s', async (_why, code) => {
  expect(await messageOf(requestOfTemporal(server(true), () => Promise.reject(grpc(code, 'no'))))).not.toMatch(
    /may have been taken/,
  );
});
