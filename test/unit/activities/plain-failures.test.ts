import { readdirSync, readFileSync } from 'node:fs';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { plainFailures } from '../../../activities/plain-failures.ts';

it('errors of activities have no stack traces, which would put folders of this machine into histories', async () => {
  const environment = new MockActivityEnvironment({}, { interceptors: [plainFailures] });
  const thrown = await environment
    .run(async () => {
      throw new Error('MAAS is away', { cause: new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }) });
    })
    .catch((error: unknown) => error);
  const stacks: [string, string | undefined][] = [];
  for (let one = thrown; one instanceof Error; one = one.cause) stacks.push([one.message, one.stack]);
  expect(stacks).toEqual([
    ['MAAS is away', ''],
    ['fetch failed', ''],
    ['ECONNREFUSED', ''],
  ]);
});

it('every worker of the product removes stack traces', () => {
  const folder = new URL('../../../worker/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const);
  const throughLink = 'parts/native-link.ts';
  expect(files.filter(([, text]) => text.includes('Worker.create(')).map(([name]) => name)).toEqual([throughLink]);
  const makers = files.filter(([name, text]) => name !== throughLink && text.includes('.createWorker('));
  expect(makers.length).toBeGreaterThan(1);
  expect(makers.filter(([, text]) => !/activity: \[plainFailures,/.test(text)).map(([name]) => name)).toEqual([]);
});
