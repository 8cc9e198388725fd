import { expect, it } from 'vitest';
import { causesOf } from '../../../src/core/run/causes.ts';

const missing = 'the folder /etc/fuel/plugins/mon-1.1 does not exist';

it('failures with one reason are one cause, with its fix once, the most frequent first', () => {
  const alone = { name: 'node-9', reason: 'node-9 has no power', hint: 'look at node-9' };
  const eight = Array.from({ length: 8 }, (_, at) => ({ name: `node-${at}`, reason: missing, hint: 'install it' }));
  expect(causesOf([alone, ...eight])).toEqual([
    { reason: missing, hint: 'install it', names: eight.map(({ name }) => name) },
    { reason: 'node-9 has no power', hint: 'look at node-9', names: ['node-9'] },
  ]);
});

it('reasons that differ only in the names of what failed are one cause, those that differ in more are not', () => {
  const released = (name: string, id: string) => ({
    ...{ name, also: [id, undefined], reason: `${name} (${id}) was released`, hint: `redeploy ${name}` },
  });
  // One name begins with another.
  const [cause, other] = causesOf([released('r1', 'x1'), released('r11', 'x11'), { name: 'r2', reason: 'r1 failed' }]);
  expect(cause).toEqual({ reason: '… (…) was released', hint: 'redeploy …', names: ['r1', 'r11'] });
  expect(other).toMatchObject({ reason: 'r1 failed', names: ['r2'] });
});

it('a fix is named if it is the same for all, and a thing that failed twice is named once', () => {
  const [cause] = causesOf([
    { name: 'a', reason: 'no', hint: 'this' },
    { name: 'b', reason: 'no', hint: 'that' },
    { name: 'a', reason: 'no', hint: 'this' },
  ]);
  expect(cause).toEqual({ reason: 'no', hint: undefined, names: ['a', 'b'] });
});
