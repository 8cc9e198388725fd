import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { holdingTests } from '../../../scripts/promises-docs.ts';
import { allSentences, SECURITY_PAGE, securityPage, threats } from '../../../scripts/threats-docs.ts';

const tests = holdingTests('threat');
const sentences = allSentences(threats());

it('the threat model has every party and all ten risks, each sentence once', () => {
  const ids = sentences.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(threats().owasp.map(({ risk }) => risk.split(' ')[0])).toEqual(
    Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
  );
  for (const party of ['Viewer', 'Operator', 'Admin', 'Node', 'network', 'package', 'Temporal'])
    expect(
      threats().parties.some((one) => one.party.includes(party)),
      party,
    ).toBe(true);
});

it('every sentence of the threat model has a test, and every mark a sentence', () => {
  expect(sentences.filter(({ id }) => !tests.has(id)).map(({ id, sentence }) => `${id}: ${sentence}`)).toEqual([]);
  const known = new Set(sentences.map(({ id }) => id));
  expect([...tests.keys()].filter((id) => !known.has(id))).toEqual([]);
});

it('every sentence about a party is tried from outside, or is called a belief', () => {
  const outside = holdingTests('outside');
  const all = threats().parties.flatMap((party) => party.sentences);
  for (const { id, belief } of all) expect([id, outside.has(id)]).toEqual([id, belief === undefined]);
  const known = new Set(all.map(({ id }) => id));
  expect([...outside.keys()].filter((id) => !known.has(id))).toEqual([]);
});

it('docs/security.md is generated from the threat model', () => {
  expect(readFileSync(SECURITY_PAGE, 'utf8'), 'run npm run docs:threats').toBe(securityPage());
});
