import { join } from 'node:path';
import { type DevServer, startDevServer } from '../src/platform/temporal/dev-server.ts';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';

/** The Temporal CLI. @throws the next step if there is none */
export async function temporalBinary(): Promise<string> {
  const found = await findTemporalBinary({ report: console.error });
  if (found.status === 'missing') throw new Error(explainMissing(found));
  return found.path;
}

/** Temporal's dev server without a Web UI, with its database and log as files in a folder. */
export const startBenchServer = async (folder: string): Promise<DevServer> =>
  startDevServer({
    binary: await temporalBinary(),
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    uiPort: 'none',
  });
