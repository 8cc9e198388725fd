// The worker of the test workflow as a separate process, for tests that kill it.
import { NativeConnection, Worker } from '@temporalio/worker';

const { address, taskQueue, codePath } = JSON.parse(process.argv[2]!) as Record<string, string>;
const connection = await NativeConnection.connect({ address: address! });
const worker = await Worker.create({
  connection,
  taskQueue: taskQueue!,
  workflowBundle: { codePath: codePath! },
  reuseV8Context: true,
});
process.stdout.write('ready\n');
await worker.run();
