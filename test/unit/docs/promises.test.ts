import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { holdingTests, PAGE, promisesPage, promisingDocuments } from '../../../scripts/promises-docs.ts';

const tests = holdingTests();
const promises = promisingDocuments().flatMap((document) => document.promises);

it('the promises of the five documents are listed, each once', () => {
  expect(promisingDocuments()).toHaveLength(5);
  const ids = promises.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(200);
  expect(ids).toEqual([...new Set(ids)]);
});

it('every promise has a test, or states what is missing', () => {
  const without = promises.filter(({ id, open }) => open === undefined && !tests.has(id));
  expect(without.map(({ id, promise }) => `${id}: ${promise}`)).toEqual([]);
});

it('a promise that has a test is not open', () => {
  const closed = promises.filter(({ id, open }) => open !== undefined && tests.has(id));
  expect(closed.map(({ id }) => `${id} has a test now: take \`open\` out of test/data/promises.yaml`)).toEqual([]);
});

it('every promise mark of a test is an existing promise', () => {
  const known = new Set(promises.map(({ id }) => id));
  expect([...tests.keys()].filter((id) => !known.has(id))).toEqual([]);
});

it('every place where a promise is met exists', () => {
  const places = promises.map(({ where }) => where);
  expect(places.filter((where) => !existsSync(new URL(`../../../${where}`, import.meta.url)))).toEqual([]);
});

it('docs/promises.md is generated from the promises', () => {
  expect(readFileSync(PAGE, 'utf8'), 'run npm run docs:promises').toBe(promisesPage());
});
