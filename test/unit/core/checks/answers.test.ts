import { describe, expect, it } from 'vitest';
import { type HostAnswer, judgeAnswer, type Question } from '../../../../src/core/checks/answers.ts';
import type { Condition } from '../../../../src/core/checks/check.ts';

const http = (status: number, body = '', isWhole = true): HostAnswer => ({ kind: 'http', status, body, isWhole });
const get: Question = { kind: 'http', url: 'http://n1/', status: 204, contains: 'ready' };
const tcp: Question = { kind: 'tcp', host: 'n1', port: 22 };

it.each<[string, Question, HostAnswer, boolean | null]>([
  ['the wanted status and text', get, http(204, 'all is ready'), true],
  ['another status', get, http(200, 'all is ready'), false],
  ['a redirect', get, http(302, 'ready'), false],
  ['an answer without the text', get, http(204, 'not yet'), false],
  ['a refused connection', get, { kind: 'refused' }, false],
  ['silence', get, { kind: 'none', why: 'no answer within 10 s' }, null],
  ['a connection for a request', get, { kind: 'connected' }, null],
  ['a connection', tcp, { kind: 'connected' }, true],
  ['a refused port', tcp, { kind: 'refused' }, false],
  ['a silent port', tcp, { kind: 'none', why: 'no answer' }, null],
])('%s', (_what, question, answer, ok) => expect(judgeAnswer(question, answer).ok).toBe(ok));

describe('an answer of Prometheus', () => {
  const below: Condition = { below: 0.05 };
  const judged = (body: unknown, is: Condition = below, status = 200) =>
    judgeAnswer({ kind: 'prometheus', url: 'http://p', query: 'q', is }, http(status, JSON.stringify(body))).ok;
  const vector = (...values: string[]) => ({
    status: 'success',
    data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1_700_000_000, value] })) },
  });
  const scalar = (value: string) => ({ status: 'success', data: { resultType: 'scalar', result: [1, value] } });

  it.each<[string, unknown, Condition, boolean | null]>([
    ['below the limit', vector('0.01'), below, true],
    ['at the limit', vector('0.05'), below, false],
    ['one of several not below it', vector('0.01', '0.2', '0'), below, false],
    ['a scalar', scalar('3'), { above: 2 }, true],
    ['a scalar at the limit', scalar('2'), { above: 2 }, false],
    ['between, at an end', vector('2', '5'), { between: [2, 5] }, true],
    ['outside', vector('5.1'), { between: [2, 5] }, false],
    ['infinite', vector('+Inf'), { above: 2 }, true],
    ['infinite below', vector('-Inf'), below, true],
    ['without a result', vector(), below, null],
    ['not a number', vector('NaN'), below, null],
    ['a good one beside one that is not a number', vector('0', 'NaN'), below, null],
    ['empty text', vector(''), below, null],
    ['a series', { status: 'success', data: { resultType: 'matrix', result: [] } }, below, null],
    ['text', { status: 'success', data: { resultType: 'string', result: [1, 'ok'] } }, below, null],
    ['an error', { status: 'error', errorType: 'bad_data', error: 'parse error' }, below, null],
    ['no answer of Prometheus', ['0.01'], below, null],
  ])('%s', (_what, body, is, ok) => expect(judged(body, is)).toBe(ok));

  it('that came with another status, or was too long to be read, says nothing', () => {
    expect(judged(vector('0'), below, 500)).toBe(null);
    const question: Question = { kind: 'prometheus', url: 'http://p', query: 'q', is: below };
    expect(judgeAnswer(question, http(200, JSON.stringify(vector('0')), false)).ok).toBe(null);
  });
});
