import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from '../../../src/platform/free-port.ts';
import { relay } from '../../../worker/up.ts';

it('the relay forwards connections, and ends them when it stops', async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const from = await freePort();
  const stop = await relay(`127.0.0.1:${from}`, `127.0.0.1:${port}`);
  try {
    const client = connect(from, '127.0.0.1');
    client.write('ping');
    expect(String((await once(client, 'data'))[0])).toBe('ping');
    const closed = once(client, 'close');
    await stop();
    await closed;
    const refused = connect(from, '127.0.0.1');
    expect(await once(refused, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
  } finally {
    server.close();
  }
});

it('the relay reports why it cannot listen', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await expect(relay(`127.0.0.1:${port}`, '127.0.0.1:1')).rejects.toThrow('EADDRINUSE');
  } finally {
    server.close();
  }
});
