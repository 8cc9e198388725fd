import { Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { freePort } from '../../../../src/platform/free-port.ts';
import { repeatCalls } from '../../../../src/platform/temporal/closed-channel.ts';

it('a call that waits to be repeated ends with its connection, not with the process', async () => {
  let isRepeated: () => void = () => undefined;
  const repeated = new Promise<void>((resolve) => {
    isRepeated = resolve;
  });
  const initialIntervalMs = (): number => {
    isRepeated();
    return 10;
  };
  const interceptors = [repeatCalls({ initialIntervalMs })];
  const connection = Connection.lazy({ address: `127.0.0.1:${await freePort()}`, interceptors });
  const call = connection.workflowService.getSystemInfo({});
  const ended = expect(call).rejects.toMatchObject({ code: 1, details: 'Channel has been shut down' });
  await repeated;
  await connection.close();
  await ended;
});

it('a call on a closed connection fails', async () => {
  const connection = Connection.lazy({ address: `127.0.0.1:${await freePort()}`, interceptors: [repeatCalls()] });
  await connection.close();
  await expect(connection.workflowService.getSystemInfo({})).rejects.toThrow('Channel has been shut down');
});
