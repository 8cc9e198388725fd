import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { digestOf, planGraph, readPlanInput } from '../../../src/graph/index.js';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const data = '../../data/fuel';

// People compare digests of one version with those of another: what goes into them must not change by accident.
it.each(['aio', 'six'])('the digest of the recorded cluster %s stays', (name) => {
  const input = readPlanInput({ tasks: read(`${data}/tasks.raw.json`), cluster: read(`${data}/cluster.${name}.json`) });
  const planned = input.ok ? planGraph(input.input) : input;
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  expect(digestOf(planned.plan)).toEqual(read(`./${name}.digest.json`));
});
