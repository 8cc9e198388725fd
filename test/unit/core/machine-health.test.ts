import { expect, it } from 'vitest';
import { healthOf } from '../../../src/core/machine-health.ts';

const node = { status: 'ready', errorType: null, errorMsg: null, site: 'dc1', clusterId: 1, online: true };
const maintenance = { reason: 'fans', since: '2026-05-01T10:00:00.000Z', by: 'eva' };

it.each([
  ['ok', {}, {}],
  ['failed', { status: 'error', errorMsg: 'no power' }, {}],
  ['failed', {}, { inRun: { running: undefined, failed: 'no power' } }],
  ['silent', { online: false }, { behind: 'another release' }],
  // Nobody expects an agent of it.
  ['ok', { online: false, clusterId: null }, {}],
  ['bare', { status: 'discover', errorMsg: 'released' }, {}],
  ['bare', { status: 'discover', online: false }, {}],
  ['unknown', { status: 'discover', site: null, clusterId: null }, {}],
  ['drifted', {}, { behind: 'another release' }],
  ['drifted', { status: 'stopped' }, {}],
  ['running', { status: 'deploying' }, {}],
  // What people do now comes before what was.
  ['running', { status: 'error' }, { inRun: { running: 'deploy', failed: undefined }, maintenance }],
  ['maintenance', { status: 'error' }, { maintenance, inRun: { running: undefined, failed: 'no power' } }],
] as const)('a machine is %s: %o %o', (health, known, about) => {
  expect(healthOf({ ...node, ...known }, about).health).toBe(health);
});

it('a health has its reason', () => {
  expect(healthOf({ ...node, status: 'discover' }, {})).toEqual({ health: 'bare', reason: 'never deployed' });
  expect(healthOf(node, { behind: 'another release' }).reason).toBe('another release');
  expect(healthOf(node, {})).toEqual({ health: 'ok' });
});
