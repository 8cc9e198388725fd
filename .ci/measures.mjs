// Writes where the time of `.ci/run` went: node .ci/measures.mjs FOLDER SECONDS, with FOLDER/took (a line "SECONDS NAME" for each step) and
// FOLDER/*.json (what test/measures.ts wrote of each run of tests). Prints the steps, the longest first.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, seconds] = process.argv.slice(2);
const took = join(folder, 'took');
const lines = existsSync(took) ? readFileSync(took, 'utf8').trim().split('\n') : [];
const steps = lines.map((line) => {
  const [, elapsed, name] = /^(\d+) (.*)$/.exec(line) ?? [];
  const file = join(folder, `${name}.json`);
  return {
    name,
    seconds: Number(elapsed),
    ...(existsSync(file) ? { tests: JSON.parse(readFileSync(file, 'utf8')) } : {}),
  };
});
const target = 'node_modules/.cache/sitewright/ci.json';
mkdirSync('node_modules/.cache/sitewright', { recursive: true });
writeFileSync(target, `${JSON.stringify({ seconds: Number(seconds), steps }, undefined, 2)}\n`);
console.log(`--- where ${seconds} s went (${target})`);
for (const { name, seconds: elapsed, tests } of steps.toSorted((one, other) => other.seconds - one.seconds))
  console.log(
    `${String(elapsed).padStart(6)} s  ${name}${tests ? ` (${Math.round(tests.processorSeconds ?? 0)} processor seconds)` : ''}`,
  );
