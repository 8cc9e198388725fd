// Measures the start time of commands: median, minimum and maximum of N runs, compared with an empty Node.js process.
//   npm run build && npx tsx bench/cli-start.ts [RUNS]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const runs = Number(process.argv[2] ?? 15);
const bin = fileURLToPath(new URL('../bin/sitewright', import.meta.url));
if (!existsSync(new URL('../dist/src/cli/main.js', import.meta.url))) throw new Error('Run `npm run build` first.');

// Nothing listens on port 9 of the loopback address, so an online command fails on its first attempt.
const env = { ...process.env, SITEWRIGHT_API: 'http://127.0.0.1:9' };
const commands: readonly (readonly [string, readonly string[]])[] = [
  ['node only', ['-e', '0']],
  ['--help', [bin, '--help']],
  ['site --help', [bin, 'site', '--help']],
  ['version', [bin, 'version']],
  ['completion bash', [bin, 'completion', 'bash']],
  ['run list (no API)', [bin, 'run', 'list']],
  ['strategy show FILES', [bin, 'strategy', 'show', fileURLToPath(new URL('../examples/stl1', import.meta.url))]],
];

for (const [name, args] of commands) {
  const times = Array.from({ length: runs }, () => {
    const from = performance.now();
    spawnSync(process.execPath, args, { env, stdio: 'ignore' });
    return performance.now() - from;
  }).sort((a, b) => a - b);
  const [least, median, most] = [times[0]!, times[Math.floor(times.length / 2)]!, times[times.length - 1]!];
  console.log(`${name.padEnd(22)} median ${median.toFixed(0)} ms  (${least.toFixed(0)} to ${most.toFixed(0)})`);
}
