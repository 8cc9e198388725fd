import { afterEach, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';
import { RUN_ID, runRecord, type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function against(answer: (request: StubRequest) => StubAnswer, ...args: readonly string[]) {
  api = await stubApi(answer);
  const result = await cli(args, { env: { SITEWRIGHT_API: api.url } });
  return { ...result, requests: api.requests };
}

const changes = [
  { setting: 'common.debug', before: false, after: true },
  { setting: 'common.port', before: null, after: 80 },
];
const SAID = 'common.debug: false -> true; common.port: none -> 80';
const REVISION = { number: 3, at: '2026-11-21T09:30:00.000Z', by: 'nina', changes };

it('settings history and audit list show what changed', async () => {
  const history = await against(
    () => [200, { items: [REVISION] }],
    'settings',
    'history',
    '--cluster',
    '1',
    '-c',
    'changes',
  );
  expect(history.out).toContain(SAID);
  await api!.close();
  const entry = {
    id: '1',
    at: REVISION.at,
    actor: 'nina',
    action: 'cluster.settings',
    target: 'cluster/1',
    reason: null,
  };
  const items = [
    { ...entry, details: { changes } },
    { ...entry, details: null },
    { ...entry, target: `run/${RUN_ID}`, details: { graphs: ['default', 'late'], mode: 'apply', run: RUN_ID } },
  ];
  const answer = ({ at }: StubRequest): StubAnswer => [
    200,
    at.startsWith('/runs/') ? runRecord() : { items, next: null },
  ];
  const audit = await against(answer, 'audit', 'list', '-f', 'csv', '-c', 'target', '-c', 'details');
  expect(audit.out.split('\r\n').slice(1)).toEqual([
    `cluster/1,${SAID}`,
    'cluster/1,',
    'run/12,"graphs: default, late; mode: apply"',
    '',
  ]);
});

it('settings diff ends with 2 for changes, with --detailed-exitcode; settings revert shows them before it asks', async () => {
  const diff = await against(() => [200, REVISION], 'settings', 'diff', '3', '--cluster', '1', '--detailed-exitcode');
  expect([diff.code, diff.out]).toEqual([2, 'common.debug: false -> true\ncommon.port: none -> 80\n']);
  await api!.close();
  const revert = await against(() => [200, REVISION], 'settings', 'revert', '3', '--cluster', '1', '--dry-run');
  expect(revert.err).toBe(
    '  common.debug: true -> false\n  common.port: 80 -> none\nRevert the settings of cluster 1 to revision 3?\n',
  );
  expect(revert.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  await api!.close();
  const done = await against(() => [200, REVISION], 'settings', 'revert', '3', '--cluster', '1', '--yes');
  expect(done.requests.at(-1)).toMatchObject({ method: 'POST', at: '/clusters/1/attributes/history/3/revert' });
});

it('cluster settings hides secrets where it prints, saves them in a file of its user only, and takes no hidden ones', async () => {
  const { mkdtempSync, readFileSync, statSync, writeFileSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const folder = mkdtempSync(`${tmpdir()}/settings-`);
  const editable = { common: { db_password: { type: 'text', value: 'hunter2' }, debug: { value: true } } };
  const answer = (): StubAnswer => [200, { editable }];
  for (const format of ['table', 'yaml', 'json']) {
    const printed = await against(answer, 'cluster', 'settings', '1', '-f', format);
    expect(printed.out).toContain('debug');
    expect(printed.out).not.toContain('hunter2');
    await api!.close();
  }
  const file = `${folder}/settings.yaml`;
  await against(answer, 'cluster', 'settings', '1', '--download', file);
  expect(readFileSync(file, 'utf8')).toContain('hunter2');
  expect(statSync(file).mode & 0o077).toBe(0);
  await api!.close();
  writeFileSync(file, readFileSync(file, 'utf8').replace('hunter2', '***'));
  const refused = await against(answer, 'cluster', 'settings', '1', '--upload', file);
  expect([refused.code, refused.requests.filter(({ method }) => method !== 'GET')]).toEqual([2, []]);
});
