import { expect, it } from 'vitest';
import { changedSettings } from '../../../src/cli/commands/cluster-data.js';

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
