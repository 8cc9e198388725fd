// Random `kill -9` of agents, workflow worker and Temporal server over runs of 500 counted tasks:
// `npx tsx bench/chaos.ts [kills] [seed]`. Copy the result to bench/agents-results.md.

import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.js';
import { chaos } from '../test/rig/agent-chaos.js';

const [kills = 100, seed = 1] = process.argv.slice(2).map(Number);
const found = await findTemporalBinary({ report: (line) => console.error(line) });
if (found.status === 'missing') throw new Error(explainMissing(found));
const result = await chaos({
  binary: found.path,
  nodes: 20,
  tasksPerNode: 25,
  hosts: 5,
  kills,
  seed,
  pauseMs: 2_000,
  report: (line) => console.error(line),
});
console.log(JSON.stringify(result, null, 2));
process.exitCode = result.lost.length + result.twice.length + result.notOk.length === 0 ? 0 : 1;
