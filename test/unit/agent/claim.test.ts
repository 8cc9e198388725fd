import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { ownIdentity } from '../../../src/platform/processes/process-identity.ts';

it('one supervisor runs an execution: who comes second has no claim, and changes nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-claim-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const journal = new Journal(join(folder, 'a/b/c/d'));
  journal.create();
  const first = ownIdentity();
  expect(journal.claim(first)).toBe(true);
  expect(journal.claim({ ...first, startTime: '1' })).toBe(false);
  expect(journal.readClaim()).toEqual(first);
});
