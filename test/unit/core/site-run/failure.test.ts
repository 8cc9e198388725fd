import { expect, it } from 'vitest';
import { explainRunFailure, type RunFailure } from '../../../../src/core/site-run/failure.ts';

const run = { kind: 'deploy_site', site: 'dc1', left: [] } as const;

const failures: readonly RunFailure[] = [
  { kind: 'site-not-found', site: 'dc1' },
  { kind: 'revision-not-found', site: 'dc1', revision: '9' },
];

it.each(failures)('the next step of $kind is said once, and not in the reason', (failure) => {
  const { reason, next_step } = explainRunFailure(failure, run);
  expect(reason).not.toMatch(/sitewright|commit|create/);
  expect(next_step.match(/'sitewright [^']+'/g)).toHaveLength(1);
  expect(next_step.match(/commit/g)).toHaveLength(1);
});
