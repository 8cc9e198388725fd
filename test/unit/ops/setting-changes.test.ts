import { expect, it } from 'vitest';
import { changeText } from '../../../src/core/setting-change-text.ts';
import { settingChanges } from '../../../src/ops/inventory/setting-changes.ts';

const told = (before: object, after: object): string[] =>
  settingChanges({ g: before } as never, { g: after } as never).map(
    (one) => `${one.setting}: ${changeText(one.before, one.after)}`,
  );

it.each([
  ['a value', { debug: { value: false } }, { debug: { value: true } }, ['g.debug: false -> true']],
  ['nothing, if only its label changed', { x: { value: 1, label: 'a' } }, { x: { value: 1, label: 'b' } }, []],
  ['a part of a mapping', { m: { value: { a: 1, b: 2 } } }, { m: { value: { a: 1, b: 3 } } }, ['g.m.b: 2 -> 3']],
  [
    'whether a plugin is enabled, without what declares it',
    { metadata: { label: 'Logs', weight: 70, enabled: false } },
    { metadata: { label: 'Logging', weight: 70, enabled: true } },
    ['g.metadata.enabled: false -> true'],
  ],
  ['a new mapping by its parts', {}, { m: { value: { a: 1 } } }, ['g.m.a: none -> 1']],
  [
    'a password as a word',
    { p: { value: 'a', type: 'password' } },
    { p: { value: 'b', type: 'password' } },
    ['g.p: changed (a secret)'],
  ],
  ['a secret part as a word', { m: { value: {} } }, { m: { value: { token: 't' } } }, ['g.m.token: set (a secret)']],
  ['a secret that goes as a word', { password: { value: 'a' } }, {}, ['g.password: removed (a secret)']],
])('tells of %s', (_what, before, after, expected) => {
  expect(told(before, after)).toEqual(expected);
});
