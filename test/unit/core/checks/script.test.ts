import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askingScript, MISSING_ANSWERS } from '../../../../src/core/checks/script.ts';

const server = createServer((request, response) => {
  response.statusCode = request.url === '/down' ? 503 : 200;
  response.end('it\'s "ready" $HOME');
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

type Asked = Parameters<typeof askingScript>[0];

/** As an agent runs it: from a file of its own, by bash. */
function ran(question: Asked, timeout = 5): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', askingScript(question, { timeout })], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: out + err }),
    );
  });
}

it.each([
  ['the good status', '/', undefined, 0],
  ['another status', '/down', undefined, 1],
  ['the text', '/', `it's "ready" $HOME`, 0],
  ['without the text', '/', 'ready!', 1],
])('a node asks by HTTP: %s', async (_, path, contains, code) => {
  const question = { kind: 'http', url: `http://127.0.0.1:${port}${path}`, status: 200 } as const;
  const found = await ran(contains === undefined ? question : { ...question, contains });
  expect(found.code).toBe(code);
});

it('a port that accepts a connection is well, one that refuses it is not, and of a host without an address nothing is known', async () => {
  expect(await ran({ kind: 'tcp', host: '127.0.0.1', port })).toMatchObject({ code: 0 });
  expect(await ran({ kind: 'tcp', host: '[127.0.0.1]', port: 1 })).toMatchObject({ code: 1 });
  expect(await ran({ kind: 'http', url: 'http://127.0.0.1:1/', status: 200 })).toMatchObject({ code: 1 });
  const { code } = await ran({ kind: 'tcp', host: 'no-such-host.invalid', port });
  expect(MISSING_ANSWERS.tcp).toContain(code);
});

it('a command is well with exit code 0, and unknown when its time is up', async () => {
  expect(await ran({ kind: 'command', cmd: `test "$(echo 'a b')" = 'a b'` })).toMatchObject({ code: 0 });
  expect(await ran({ kind: 'command', cmd: 'echo full >&2; exit 3' })).toEqual({ code: 3, said: 'full\n' });
  expect(MISSING_ANSWERS.command).not.toContain(3);
  const { code } = await ran({ kind: 'command', cmd: 'sleep 60' }, 1);
  expect(MISSING_ANSWERS.command).toContain(code);
});

it('what cannot be asked says why', async () => {
  const { code, said } = await ran({ kind: 'unknown', why: "url: it's empty" });
  expect([MISSING_ANSWERS.http.includes(code), MISSING_ANSWERS.command.includes(code), said]).toEqual([
    ...[true, true],
    "url: it's empty\n",
  ]);
});
