import { expect, it } from 'vitest';
import { lateResult } from '../../../workflows/site/call.ts';

it.each([
  // Its run was to release it: a machine that is still deployed has not been.
  ['release', 'deployed', { ok: false, failure: { kind: 'cancelled' } }],
  ['release', 'ready', { ok: true }],
  ['deploy', 'deployed', { ok: true }],
  ['deploy', 'ready', { ok: false, failure: { kind: 'ready' } }],
  ['deploy', 'running', null],
  ['release', 'nothing', null],
] as const)('what becomes of a %s whose machine is found %s after the end of its call', (verb, found, result) => {
  const answer = lateResult(verb, { found, message: 'as MAAS has it' } as Parameters<typeof lateResult>[1]);
  if (result === null) expect(answer).toBeNull();
  else expect(answer).toMatchObject(result);
});
