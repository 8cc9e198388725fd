// Mutates inputs of every parser and reader of messages, guided by coverage, and keeps what it found on standard output:
// `node bench/fuzz-parsers.ts [--seconds N] [--seed N] [name of a target …]`. Exit code 1 if there is a finding.
import './bounded.ts';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../packages/yaql/test/mutations.ts';
import { fuzz } from '../test/rig/fuzz/guided.ts';
import { TARGETS } from '../test/rig/fuzz/targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: String(Date.now() % 1e9) } },
});
const targets = TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const each = (Number(values.seconds) * 1_000) / targets.length;
// An endless input is still there when this process has been ended.
const current = join(tmpdir(), `sitewright-fuzz-${process.pid}.txt`);
console.error(`seed ${values.seed}; the input under way is in ${current}`);

console.log('| parser | inputs | findings | slowest, ms of processor | discoveries | functions reached |');
console.log('| --- | --- | --- | --- | --- | --- |');
let found = 0;
for (const target of targets) {
  const until = performance.now() + each;
  const { inputs, findings, slowestMs, discovered, functions } = fuzz(target, {
    random: seededRandom(Number(values.seed)),
    more: () => performance.now() < until,
    guided: true,
    before: (input) => writeFileSync(current, input),
  });
  console.log(
    `| ${[target.name, inputs, findings.length, Math.round(slowestMs), discovered.length, functions].join(' | ')} |`,
  );
  for (const finding of findings) console.error(JSON.stringify(finding));
  found += findings.length;
}
process.exitCode = found === 0 ? 0 : 1;
