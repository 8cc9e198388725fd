// Writes test/durations.json, the order in which test files start, from what runs have measured: npm run test:durations [FILE...].
// Without files, of the last run in this checkout; files that it did not run keep their entry.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MEASURES, type Measures } from '../test/measures.ts';

/** Shorter files start in any order. */
const LEAST_SECONDS = 2;
const target = 'test/durations.json';

const known = Object.entries(JSON.parse(readFileSync(target, 'utf8')) as Record<string, number>);
const seconds = new Map(known.filter(([file]) => existsSync(file)));
for (const path of process.argv.length > 2 ? process.argv.slice(2) : [MEASURES])
  for (const [file, cost] of Object.entries((JSON.parse(readFileSync(path, 'utf8')) as Measures).files))
    seconds.set(file, Math.round(file.startsWith('test/e2e/') ? cost.seconds : cost.processorSeconds));
const longest = [...seconds].filter(([, cost]) => cost >= LEAST_SECONDS).sort(([, one], [, other]) => other - one);
writeFileSync(target, `${JSON.stringify(Object.fromEntries(longest), undefined, 2)}\n`);
console.log(`${target}: ${longest.length} files`);
