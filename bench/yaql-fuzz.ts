/**
 * Evaluates mutated conformance expressions: none may crash, hang or fail without a position.
 * `node bench/yaql-fuzz.ts [COUNT [SEED]]` prints a summary and every finding; exit code 1 if there are any.
 */
import './bounded.ts';
import { readFileSync } from 'node:fs';
import { findingsOf, seededRandom } from '../packages/yaql/test/mutations.ts';

const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? 1);
const sources = ['official', 'extra', 'nailgun'].flatMap((name) =>
  readFileSync(new URL(`../packages/yaql/test/data/${name}.jsonl`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { expr: string }).expr),
);
const started = performance.now();
let slowest = 0;
const outcomes = new Map<string, number>();
const findings = findingsOf(sources, count, seededRandom(seed), (outcome, milliseconds, expression) => {
  if (milliseconds > 1000) console.log(`${milliseconds.toFixed(0)} ms: ${outcome}: ${JSON.stringify(expression)}`);
  slowest = Math.max(slowest, milliseconds);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
});
for (const finding of findings) console.log(finding);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`${count} expressions in ${seconds} s, slowest ${slowest.toFixed(0)} ms, ${findings.length} findings`);
for (const [outcome, n] of [...outcomes].sort((a, b) => b[1] - a[1]))
  console.log(`${String(n).padStart(8)} ${outcome}`);
process.exitCode = findings.length === 0 ? 0 : 1;
