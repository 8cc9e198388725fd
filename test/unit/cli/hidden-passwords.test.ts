import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { McpServer } from '../../../src/cli/mcp/server.ts';
import type { ApiClient } from '../../../src/cli/shell/client.ts';
import { changedSettings } from '../../../src/clusters/changed-settings.ts';
import { passwordSettings } from '../../../src/clusters/settings.ts';
import { cluster } from '../graph/recorded.ts';
import { cli } from './recording-terminal.ts';
import { stubApi } from './stub-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'hidden-'));

const editable = {
  access: {
    user: { type: 'text', value: 'nina' },
    pin: { type: 'password', value: 'hunter2' },
    db_password: { type: 'text', value: 'hunter2' },
  },
};
const contents = {
  ...{ id: 5, name: 'jammy', version: '1', tags_metadata: {}, releases: [] },
  attributes_metadata: { editable },
};

const secret = "settings:access.db_password == 'x'";
const task = (more: object) => {
  const { parameters, ...rest } = { parameters: {}, ...more };
  return { id: 'a', type: 'shell', version: '2.1.0', tags: '*', ...rest, parameters: { cmd: 'true', ...parameters } };
};
const files = {
  'input.json': {
    tasks: [task({ condition: secret }), task({ id: 'b', condition: { yaql_exp: "$.access.db_password = 'x'" } })],
    cluster: cluster({ '1': ['controller'] }, { access: { db_password: 'hunter2' } }),
  },
  'old.json': [task({ parameters: { password: 'hunter2' } })],
  'settings.json': { editable },
  'new.json': [task({ parameters: { password: 'hunter22' } })],
};
for (const [name, data] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(data));

it.each([
  ...['release', 'plugin'].flatMap((kind) => [
    [`${kind} show jammy`, ''],
    [`${kind} show jammy -f json`, 'nina'],
    [`${kind} list -f yaml`, 'nina'],
    [`${kind} list -c attributes_metadata`, ''],
  ]),
  ['graph plan --input input.json', secret],
  ['graph plan --input input.json -f json --show 1', secret],
  ['graph diff --input new.json --against old.json', 'parameters'],
  ['cluster settings 5 --set access.db_password=hunter2 --dry-run', '***'],
  ['cluster settings 5 --set access.db_password=77012 --dry-run', '***'],
  ['cluster settings 5 --upload settings.json --dry-run', 'nina'],
  ['cluster settings 5 --upload settings.json --dry-run -f json', 'nina'],
])('%s prints no password', async (command, shown) => {
  const inFolder = command.split(' ').map((word) => (Object.hasOwn(files, word) ? join(folder, word) : word));
  const api = await stubApi(({ at }) => {
    return [200, /^\/(releases|plugins)$/.test(at) ? [contents] : contents];
  });
  try {
    const { code, out, err } = await cli(inFolder, { env: { SITEWRIGHT_API: api.url } });
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(shown);
    expect(out).not.toMatch(/hunter2|77012/);
  } finally {
    await api.close();
  }
});

it('changes that a deployment would bring name settings without their passwords', () => {
  const secrets = passwordSettings({
    editable: { ...editable, common: { key_phrase: { type: 'password', value: '' } } },
  });
  const before = {
    access: { pin: 'hunter2', db_password: 'hunter2', user: 'ann' },
    key_phrase: 'hunter2',
    oob: { credential: 'hunter2' },
  };
  const now = { access: { pin: 'hunter22', user: 'nina' }, oob: 'hunter2'.length };
  const changes = changedSettings(before, now, secrets);
  expect(JSON.stringify(changes)).not.toContain('hunter2');
  expect(changes.map(({ path }) => path)).toEqual([
    'access.db_password',
    'access.pin',
    'access.user',
    'key_phrase',
    'oob',
  ]);
  expect(changes[2]).toEqual({ path: 'access.user', before: 'ann', now: 'nina' });
});

it('an assistant reads no password, and cannot store what stands for one', async () => {
  const made: unknown[] = [];
  const api = {
    async text(at: string, { body }: { readonly body?: unknown }) {
      if (at.startsWith('PUT')) made.push(body);
      return JSON.stringify({ editable });
    },
  } as unknown as ApiClient;
  const server = new McpServer({ client: async () => api, allowChanges: true, now: () => 0 });
  const call = async (name: string, given: object) => {
    const message = { id: 1, method: 'tools/call', params: { name, arguments: given } };
    const { content, isError } = JSON.parse((await server.answer(JSON.stringify(message)))!).result;
    return { isError, text: content[0].text as string };
  };
  const read = await call('read', { operation: 'getClusterSettings', params: { id: '1' } });
  expect(read.text).toContain('nina');
  const change = { operation: 'replaceClusterSettings', params: { id: '1' } };
  const planned = await call('plan_change', { ...change, body: { editable: { access: { user: { value: 'ann' } } } } });
  const { digest } = JSON.parse(planned.text);
  const done = await call('make_change', { digest });
  for (const { text, isError } of [read, planned, done]) {
    expect(isError).toBeUndefined();
    expect(text).not.toContain('hunter2');
  }
  expect(await call('plan_change', { ...change, body: JSON.parse(read.text) })).toMatchObject({ isError: true });
  expect(made).toEqual([{ editable: { access: { user: { value: 'ann' } } } }]);
});
