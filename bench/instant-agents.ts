/**
 * Agents that end every task immediately, in a separate process, because they represent other machines. Prints `ready` when they poll.
 * Usage: node bench/instant-agents.ts ADDRESS QUEUE…
 */
import './bounded.ts';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { controlQueue } from '../workflows/protocol.ts';

const [address = '', ...queues] = process.argv.slice(2);
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error } });
const connection = await NativeConnection.connect({ address });
const facts = { agent_version: '1', boot_id: 'b', task_types: ['shell'], containment: 'none' };

/** One task at a time, as an agent has it. */
const serve = (taskQueue: string, activities: object): Promise<Worker> =>
  Worker.create({
    ...{ connection, taskQueue, activities },
    maxConcurrentActivityTaskExecutions: 1,
    maxConcurrentActivityTaskPolls: 1,
  });

const workers = await Promise.all(
  queues.flatMap((queue) => [
    serve(queue, { run_task: async () => ({ outcome: 'success' }) }),
    serve(controlQueue(queue), {
      ping: async ({ node }: { node: string }) => ({ node, ...facts }),
      cancel_task: async () => undefined,
    }),
  ]),
);
process.once('SIGTERM', () => {
  for (const worker of workers) worker.shutdown();
});
const running = Promise.all(workers.map((worker) => worker.run()));
console.log('ready');
await running;
await connection.close();
