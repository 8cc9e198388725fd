/**
 * Measures evaluations per second of five workloads over 10 and 10,000 nodes, and the speed of parsing.
 * `node bench/yaql.ts`; the figures of the reference implementation are in bench/yaql-results.md.
 */

import './bounded.ts';
import { readFileSync } from 'node:fs';
import { createEngine } from '@sitewright/yaql';

const workloads: Readonly<Record<string, string>> = {
  filter: "$.nodes.where($.status = ready and 'compute' in $.roles and $.memory > 2048).name",
  group: '$.nodes.groupBy($.status, $.memory, $.sum()).toDict($[0], $[1])',
  order: '$.nodes.orderBy($.status).thenByDescending($.memory).thenBy($.name).select($.name)',
  strings: "$.nodes.select($.name.toUpper().replace('NODE', 'host') + '-' + str($.id)).join(',')",
  aggregate: '$.nodes.select($.disks.size.sum()).sum() + $.nodes.aggregate($1 + $2.memory, 0)',
};

function cluster(size: number): object {
  const statuses = ['ready', 'discover', 'error', 'provisioned'];
  const roles = [['controller'], ['compute'], ['compute', 'ceph-osd'], ['mongo', 'cinder']];
  return {
    nodes: Array.from({ length: size }, (_, i) => ({
      id: i,
      name: `node-${(i * 7919) % size}`,
      status: statuses[(i * 31) % 4],
      roles: roles[(i * 17) % 4],
      memory: 1024 * (1 + ((i * 13) % 8)),
      disks: [{ size: 100 + i }, { size: 200 }],
    })),
  };
}

/** Runs for about a second, after a warm-up; evaluations per second. */
function rate(evaluate: () => void, seconds = 1): number {
  const warmUntil = performance.now() + 200;
  do evaluate();
  while (performance.now() < warmUntil);
  const start = performance.now();
  let count = 0;
  do {
    evaluate();
    count++;
  } while (performance.now() - start < seconds * 1000);
  return (count * 1000) / (performance.now() - start);
}

const engine = createEngine({
  limitIterators: 1_000_000,
  memoryQuota: 100 * 1024 * 1024,
  convertSetsToLists: true,
  maxSteps: 100_000_000,
});
const [small, large] = [cluster(10), cluster(10_000)];
const figure = (x: number): string => (x >= 100 ? x.toFixed(0) : x.toPrecision(3)).padStart(9);

console.log('workload         10 nodes  10,000 nodes  time per node, large : small');
for (const [name, text] of Object.entries(workloads)) {
  const expression = engine.parse(text);
  const [few, many] = [rate(() => expression.evaluate(small)), rate(() => expression.evaluate(large))];
  console.log(`${name.padEnd(15)}${figure(few)}     ${figure(many)}  ${(few / many / 1000).toFixed(2)}`);
}

const texts = readFileSync(new URL('../packages/yaql/test/data/extra.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => (JSON.parse(line) as { expr: string }).expr);
const parseAll = (): void => {
  const fresh = createEngine({ context: engine.context, cacheSize: 1 });
  for (const text of texts)
    try {
      fresh.parse(text);
    } catch {
      // Many of the recorded expressions are errors on purpose.
    }
};
console.log(`parsing        ${figure(rate(parseAll) * texts.length)} expressions/s`);
console.log(`new engine     ${figure(rate(() => createEngine()))} a second`);
