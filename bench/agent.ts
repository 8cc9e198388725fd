// Runs tasks through a node agent and measures the overhead:
//   node bench/agent.ts [tasks] [mebibytes]
import './bounded.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { NodeAgent } from '../src/agent/index.ts';

const tasks = Number(process.argv[2] ?? 20);
const mebibytes = Number(process.argv[3] ?? 1024);
const folder = mkdtempSync(join(tmpdir(), 'sitewright-bench-'));
const program = join(folder, 'supervisor.mjs');
buildSync({
  entryPoints: [join(import.meta.dirname, '../src/agent/supervision/supervisor-main.ts')],
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
});
const agent = new NodeAgent({
  node: '1',
  stateDir: join(folder, 'state'),
  supervisorCommand: [process.execPath, program],
});

async function timed(task: string, cmd: string): Promise<number> {
  const execution = { run: 'bench', task, node: '1', generation: 1, type: 'shell', parameters: { cmd, retries: 0 } };
  const began = performance.now();
  await agent.ensure(execution);
  const { outcome } = await agent.result(execution);
  if (outcome !== 'success') throw new Error(`${task} ended ${outcome}`);
  return performance.now() - began;
}

try {
  const times: number[] = [];
  for (let at = 0; at < tasks; at += 1) times.push(await timed(`true-${at}`, 'true'));
  times.sort((a, b) => a - b);
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const before = process.memoryUsage.rss();
  const flood = await timed('flood', `head -c ${mebibytes * 1024 * 1024} /dev/zero`);
  const grown = (process.memoryUsage.rss() - before) / 1024 / 1024;
  console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, containment ${agent.facts().containment}`);
  console.log(
    `a task that does nothing: median ${ms(times[tasks >> 1]!)}, worst ${ms(times.at(-1)!)} (${tasks} tasks)`,
  );
  console.log(
    `${mebibytes} MiB of output: ${(mebibytes / (flood / 1000)).toFixed(0)} MiB/s, agent grew ${grown.toFixed(1)} MiB`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
