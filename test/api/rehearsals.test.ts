import type { AddressInfo } from 'node:net';
import { deferred } from '@sitewright/temporal-simulator';
import { expect, it, onTestFinished } from 'vitest';
import type { RehearsalOrder } from '../../src/ops/rehearsals/order.ts';
import { apiAlone } from './api-rig.ts';

it('a rehearsal ends when the client that asked for it has gone', async () => {
  const asked = deferred<AbortSignal | undefined>();
  const ended = deferred<void>();
  const rig = await apiAlone(
    {},
    {
      rehearse: (_order: RehearsalOrder, signal?: AbortSignal) => {
        asked.resolve(signal);
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            ended.resolve(undefined);
            reject(signal.reason as Error);
          });
        });
      },
    },
  );
  const client = new AbortController();
  onTestFinished(() => {
    client.abort();
    return rig.close();
  });
  const { store } = rig;
  const { id: releaseId } = await store.releases.create({
    ...{ name: 'Newton', version: 'newton-10.0', operatingSystem: 'Ubuntu', rolesMetadata: {}, tagsMetadata: {} },
  });
  const { id } = await store.clusters.create({ name: 'lab', releaseId });
  await rig.api.listen({ port: 0, host: '127.0.0.1' });
  const { port } = rig.api.server.address() as AddressInfo;
  const answer = fetch(`http://127.0.0.1:${port}/api/v1/clusters/${id}/rehearsals`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: client.signal,
  }).catch((error: Error) => error.name);
  expect((await asked.promise)?.aborted).toBe(false);
  client.abort();
  expect(await answer).toBe('AbortError');
  await ended.promise;
});
