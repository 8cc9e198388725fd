import { expect, it } from 'vitest';
import { type CheckSubject, questionOf } from '../../../../activities/check/questions.ts';
import { checkOf, type WrittenCheck } from '../../../../src/core/checks/check.ts';

const SUBJECT: CheckSubject = {
  site: { name: 'dc1' },
  node: { name: 'n1', address: '10.0.0.7', rack: 'r1', tags: ['db'], labels: { zone: 'a' } },
};
const asked = (written: WrittenCheck, subject: CheckSubject = SUBJECT) => questionOf(checkOf('c', written), subject);
const url = (yaql_exp: string): WrittenCheck => ({ http: { url: { yaql_exp } } });

it('a check asks with the values of its node', () => {
  expect(asked(url("'http://' + $.node.address + ':9100/' + $.site.name + $.node.labels.zone"))).toEqual({
    ...{ kind: 'http', url: 'http://10.0.0.7:9100/dc1a', status: 200 },
  });
  expect(asked({ tcp: { host: { yaql_exp: '$.node.name' }, port: 22 } })).toEqual({
    kind: 'tcp',
    host: 'n1',
    port: 22,
  });
  const query = { yaql_exp: "'up{node=\"' + $.node.name + '\"}'" };
  expect(asked({ prometheus: { url: 'http://p:9090', query, is: { above: 0 } } })).toMatchObject({
    query: 'up{node="n1"}',
  });
});

it.each([
  ['an address that nobody knows', "'http://' + $.node.address"],
  ['a key that is not there', "'http://' + $.node.no_such_key"],
  ['a list', '$.node.tags'],
  ['a number', '1'],
  ['nothing', "''"],
  ['another scheme', "'file:///etc/passwd'"],
  ['a user', "'http://root:secret@n1/'"],
  ['a line end', "'http://n1/\n'"],
  ['too much work', 'range(100000000).sum()'],
])('%s is not asked for', (_what, expression) => {
  const subject = { ...SUBJECT, node: { ...SUBJECT.node!, address: null } };
  expect(asked(url(expression), subject)).toMatchObject({ kind: 'unknown' });
});

it('a host is a name, and nothing else', () => {
  expect(asked({ tcp: { host: { yaql_exp: "'n1 n2'" }, port: 22 } })).toMatchObject({ kind: 'unknown' });
});
