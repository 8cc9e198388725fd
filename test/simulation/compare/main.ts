/**
 * The same programs, and the same requests, to a real Temporal server and to the simulated one: both must give the same histories.
 * `node test/simulation/compare/main.ts [--programs 200] [--from 1]` starts a server of its own, and ends with 1 where they differ.
 * `--known` takes the programs that once did.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadWorkflows, Random } from '@sitewright/temporal-simulator';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { startBenchServer } from '../../../bench/dev-server.ts';
import { act } from './activities.ts';
import { FREEDOMS } from './freedoms.ts';
import { KNOWN_PROGRAMS } from './known-programs.ts';
import { type Program, programOf, type Request } from './program.ts';
import { QUEUE, real, type Seen, simulated } from './sides.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    /** At once, on the real server. */
    together: { type: 'string', default: '10' },
    /** Those that have differed before. */
    known: { type: 'boolean', default: false },
    /** Tells one program, with all that was seen. */
    program: { type: 'string' },
  },
});

interface Compared {
  readonly seed: number;
  readonly program: Program;
  readonly requests: readonly Request[];
  readonly simulated: Seen;
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
const folder = await mkdtemp(join(tmpdir(), 'sitewright-compare-'));
const { code } = await bundleWorkflowCode({
  workflowsPath: join(import.meta.dirname, 'workflows.ts'),
  logger: new DefaultLogger('ERROR'),
});
const codePath = join(folder, 'bundle.js');
await writeFile(codePath, code);

const from = Number(values.program ?? values.from);
const count = values.program === undefined ? Number(values.programs) : 1;
const seeds = values.known ? [...KNOWN_PROGRAMS.keys()] : Array.from({ length: count }, (_, at) => from + at);
const compared: Compared[] = [];
/** How often which freedom of the real server explained a difference. */
const explained = new Map<string, number>();
const loaded = await loadWorkflows(codePath, ['act']);
for (const seed of seeds) {
  const made = programOf(new Random(`program ${seed}`));
  compared.push({ seed, ...made, simulated: await simulated(seed, made.program, made.requests, loaded) });
}

const server = await startBenchServer(folder);
let differing = 0;
try {
  const connection = await NativeConnection.connect({ address: server.address });
  const client = new Client({ connection: await Connection.connect({ address: server.address }) });
  const options = { connection, activities: { act }, workflowBundle: { codePath } };
  // One keeps runs in its memory, the other reads them again and again.
  const workers = [
    await Worker.create({ ...options, taskQueue: QUEUE, maxHeartbeatThrottleInterval: 100 }),
    await Worker.create({
      ...options,
      taskQueue: `${QUEUE}-forgetful`,
      maxCachedWorkflows: 0,
      maxHeartbeatThrottleInterval: 100,
    }),
  ];
  const running = workers.map((worker) => worker.run());
  const left = [...compared];
  await Promise.all(
    Array.from({ length: Number(values.together) }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const queue = one.seed % 2 === 0 ? QUEUE : `${QUEUE}-forgetful`;
        const seen = await real(one.program, one.requests, client, queue);
        const differences = differencesOf(one.simulated, seen);
        if (values.program !== undefined)
          console.log(
            JSON.stringify(
              { program: one.program, requests: one.requests, simulated: one.simulated, real: seen },
              null,
              1,
            ),
          );
        if (differences.length === 0) continue;
        differing++;
        console.log(`program ${one.seed}:\n  ${differences.join('\n  ')}`);
      }
    }),
  );
  for (const worker of workers) worker.shutdown();
  void running;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
for (const { name, reason } of FREEDOMS)
  if (explained.has(name)) console.log(`explained ${explained.get(name)} times: ${name}. ${reason}`);
console.log(`${seeds.length} programs${values.known ? '' : ` from ${from}`}: ${differing} differ unexplained`);
// Activities that never end keep the workers.
process.exit(differing === 0 ? 0 : 1);

function differencesOf(mine: Seen, theirs: Seen): string[] {
  const differences: string[] = [];
  const compare = (what: string, one: unknown, other: unknown): void => {
    const [simulated, seen] = [JSON.stringify(one), JSON.stringify(other)];
    if (simulated !== seen) differences.push(`${what}: simulated ${simulated}, real ${seen}`);
  };
  for (const [at, answer] of mine.answers.entries()) compare(`answer ${at + 1}`, answer, theirs.answers[at]);
  for (const id of new Set([...Object.keys(mine.histories), ...Object.keys(theirs.histories)])) {
    const [here, there] = [mine.histories[id] ?? [], theirs.histories[id] ?? []];
    compare(`runs of ${id}`, here.length, there.length);
    here.forEach((run, at) => {
      const other = there[at];
      if (other === undefined) return;
      for (const thing of new Set([...Object.keys(run), ...Object.keys(other)])) {
        const [one = [], two = []] = [run[thing], other[thing]];
        const events = { thing, simulated: one, real: two };
        const freedom = FREEDOMS.find(({ explains }) => explains(events));
        if (freedom === undefined) compare(`${id}, run ${at + 1}, ${thing}`, run[thing], other[thing]);
        else explained.set(freedom.name, (explained.get(freedom.name) ?? 0) + 1);
      }
    });
  }
  return differences;
}
