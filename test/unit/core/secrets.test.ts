import { expect, it } from 'vitest';
import {
  HIDDEN,
  holdsHidden,
  namesSecret,
  withoutPasswords,
  withoutSecretValues,
} from '../../../src/core/text/secrets.ts';

it.each([
  ['reached http://u:hunter2@h/x twice: postgres://u:hunter2@h', true],
  ['nobody: http://:hunter2@h/x', true],
  ['redis://u:hun@hunter2@h/x, and redis://h', true],
  ['http://h:80/a@b, node@rack, a:b', false],
])('hides passwords of addresses in %s', (text, has) => {
  const shown = withoutPasswords(text);
  expect(shown).not.toContain('hunter2');
  expect(shown !== text).toBe(has);
});

it('hides values of secret keys and of settings declared as passwords, and keeps the rest', () => {
  const setting = (more: object) => ({ label: 'Password', weight: 1, ...more });
  const data = {
    common: {
      pin: setting({ type: 'password', value: 'hunter2' }),
      db_password: setting({ type: 'text', value: 'hunter2' }),
      debug: setting({ type: 'checkbox', value: true }),
      credentials: { nova: 'hunter2', tokens: ['hunter2'] },
      token_ttl: 5,
      empty_secret: '',
    },
    oob: { type: 'ipmi', account: 'root', credential: 'hunter2' },
  };
  const shown = withoutSecretValues(data) as typeof data;
  expect(JSON.stringify(shown)).not.toContain('hunter2');
  expect(shown.common.pin).toEqual(setting({ type: 'password', value: HIDDEN }));
  expect(shown.common.debug).toEqual(data.common.debug);
  expect([shown.common.token_ttl, shown.common.empty_secret, shown.oob.account]).toEqual([5, '', 'root']);
  expect([holdsHidden(data), holdsHidden(shown)]).toEqual([false, true]);
});

it.each([
  ['  oob: {type: ipmi, credential: hunter2}', true],
  ['"db_password": "hunter2"', true],
  ['- password : hunter2', true],
  ['  name: password-of-the-day', false],
  ['hint: say password', false],
])('%s names a secret: %s', (text, expected) => {
  expect(namesSecret(text)).toBe(expected);
});
