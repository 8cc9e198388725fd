// Start times of commands: medians of N runs, compared with Node.js doing nothing. With other built checkouts as arguments
// each command is run by all of them in turns, so that a busy machine is busy for all alike.
//   npm run build && node bench/cli-start.ts [RUNS] [CHECKOUT ...]
import './bounded.ts';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const [runs = '15', ...others] = process.argv.slice(2);
const checkouts = [...others.map((path) => resolve(path)), here];
for (const checkout of checkouts)
  if (!existsSync(join(checkout, 'dist/programs/main.js')))
    throw new Error(`Run \`npm run build\` in ${checkout} first.`);

// Port 9 of the loopback address: nothing listens there, so an online command ends as soon as it has tried.
const env = { ...process.env, SITEWRIGHT_API: 'http://127.0.0.1:9' };
const commands: readonly (readonly [string, readonly string[]])[] = [
  ['--help', ['--help']],
  ['site --help', ['site', '--help']],
  ['version', ['version']],
  ['completion bash', ['completion', 'bash']],
  ['run list (no API)', ['run', 'list']],
  ['strategy show FILES', ['strategy', 'show', join(here, 'examples/stl1')]],
];

/** Reports the processor time of the process it is loaded into, user and system, on descriptor 3. */
const meter =
  'import{writeSync}from"node:fs";process.on("exit",()=>{const{user,system}=process.cpuUsage();writeSync(3,String(user+system))})';
const metered = ['--import', `data:text/javascript,${encodeURIComponent(meter)}`];

interface Cost {
  readonly wall: number;
  readonly processor: number;
}

/** Milliseconds of one start. */
function start(args: readonly string[]): Cost {
  const from = performance.now();
  const { output } = spawnSync(process.execPath, [...metered, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  return { wall: performance.now() - from, processor: Number(output[3]) / 1000 };
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;

function row(name: string, starts: readonly (readonly string[])[]): void {
  const costs = starts.map((): Cost[] => []);
  for (let run = 0; run < Number(runs); run++) for (const [at, args] of starts.entries()) costs[at]!.push(start(args));
  const shown = costs.map((all) => ({
    wall: median(all.map(({ wall }) => wall)),
    processor: median(all.map(({ processor }) => processor)),
  }));
  const first = shown[0]!.processor;
  const cells = shown.map(
    ({ wall, processor }) => `${processor.toFixed(0)} ms (${wall.toFixed(0)} ms), x${(processor / first).toFixed(2)}`,
  );
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

console.log(
  `median of ${runs}: processor, user and system (wall), against the first; load ${loadavg()[0]!.toFixed(1)}`,
);
row('node alone', [['-e', '0']]);
for (const [name, args] of commands)
  row(
    name,
    checkouts.map((checkout) => [join(checkout, 'bin/sitewright'), ...args]),
  );
