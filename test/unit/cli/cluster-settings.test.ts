import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changedSettings, portionsOf } from '../../../src/cli/commands/cluster-data.ts';
import { cli } from './recording-terminal.ts';

it('settings are written GROUP.NAME=VALUE; a value that is not JSON is text', () => {
  expect(changedSettings(['storage.ceph=true', 'storage.pool="1"', 'access.user=nina=1', 'a.b='])).toEqual({
    storage: { ceph: { value: true }, pool: { value: '1' } },
    access: { user: { value: 'nina=1' } },
    a: { b: { value: '' } },
  });
});

it.each(['storage', 'storage=1', '.a=1', 'a.=1', ''])('%j is refused with the form it should have', (text) => {
  expect(() => changedSettings([text])).toThrow(/is not a setting with a value/);
});

it.each(['settings', 'facts', 'network'])('a file of %s that has none is refused by its name', async (what) => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-settings-'));
  try {
    writeFileSync(join(folder, 'empty.yaml'), '# none yet\n');
    const { code, err } = await cli(['cluster', what, '1', '--upload', 'empty.yaml'], { cwd: folder });
    expect(code).toBe(2);
    expect(err).toBe(
      `error: empty.yaml does not hold the ${what} of a cluster\n  hint: Write what 'sitewright cluster ${what} 1' prints.\n`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('facts of many nodes are sent in portions within the limit of the API, and none is lost', () => {
  const facts = Array.from({ length: 1_000 }, (_unused, uid) => ({
    uid,
    volumes: Array.from({ length: 700 }, () => 0),
  }));
  const portions = portionsOf(facts) as unknown[][];
  expect(portions.flat()).toEqual(facts);
  expect(portions.length).toBe(4);
  // One entry is never divided, and anything but a list is sent unchanged.
  expect(portionsOf([Array.from({ length: 300_000 }, () => 0), { uid: 1 }])).toHaveLength(2);
  expect([portionsOf({ a: 1 }), portionsOf([])]).toEqual([[{ a: 1 }], [[]]]);
});
