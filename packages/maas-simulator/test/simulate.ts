// The simulator as a process of its own, for tests that kill it: node simulate.ts STATE_FILE
import { simulateMaas } from '../src/index.ts';

const simulator = await simulateMaas({ port: 0, stateFile: process.argv[2]! });
process.stdout.write(`${simulator.url}\n`);
