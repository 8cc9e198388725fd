// Random `kill -9` of every process of an installation, with runs on a site and runs of graphs on enrolled nodes under way:
// `node bench/chaos.ts [kills] [seed] [rows.jsonl]`. In rounds of 100 kills, each on a new installation. With a file of
// rows it continues after the last one. Copy the table to bench/chaos-results.md.

import './bounded.ts';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { type SystemChaosResult, systemChaos } from '../test/rig/system-chaos.ts';
import { temporalBinary } from './dev-server.ts';

interface Row extends SystemChaosResult {
  readonly seed: number;
  readonly at: string;
  readonly load: number;
}

const A_ROUND = 100;
const [kills = A_ROUND, seed = 1] = process.argv.slice(2, 4).map(Number);
const file = process.argv[4];
const binary = await temporalBinary();

const rows: Row[] =
  file !== undefined && existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row)
    : [];
const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
while (sum((row) => row.kills) < kills) {
  const round = seed + rows.length;
  const result = await systemChaos({
    binary,
    kills: Math.min(A_ROUND, kills - sum((row) => row.kills)),
    seed: round,
    report: (line) => console.error(line),
  });
  const row = { ...result, seed: round, at: new Date().toISOString().slice(0, 16), load: Math.round(loadavg()[0]!) };
  rows.push(row);
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
  for (const what of ['lost', 'doubled', 'withoutReport', 'notOk'] as const)
    for (const one of row[what]) console.error(`${what}: ${one}`);
}

const TARGETS = ['worker', 'api', 'gateway', 'temporal', 'maas', 'agent'];
const columns: readonly (readonly [string, (row: Row) => number])[] = [
  ['kills', (row) => row.kills],
  ...TARGETS.map((target) => [target, (row: Row) => row.killed[target] ?? 0] as const),
  ['MAAS cut', (row) => row.cuts],
  ['resets', (row) => row.resets],
  ['restores', (row) => row.restores],
  ['site runs', (row) => row.siteRuns],
  ['graph runs', (row) => row.graphRuns],
  ['deployments and tasks', (row) => row.due],
  ['lost', (row) => row.lost.length],
  ['doubled', (row) => row.doubled.length],
  ['without a report', (row) => row.withoutReport.length],
  ['not success', (row) => row.notOk.length],
  ['seconds', (row) => row.seconds],
];
const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
console.log(line(['seed', 'date', 'load', ...columns.map(([name]) => name)]));
console.log(line(['---', '---', '---', ...columns.map(() => '---')]));
for (const row of rows) console.log(line([row.seed, row.at, row.load, ...columns.map(([, of]) => of(row))]));
console.log(line(['all', '', '', ...columns.map(([, of]) => sum(of))]));
const harm = sum((row) => row.lost.length + row.doubled.length + row.withoutReport.length + row.notOk.length);
process.exitCode = harm === 0 ? 0 : 1;
