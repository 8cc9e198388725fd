import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { freePort } from '../../src/platform/free-port.ts';
import { lookAgain } from './look-again.ts';
import { quietRuntime } from './temporal.ts';
import { findTimeSkippingServer } from './time-skipping-server.ts';

/** Downloaded the first time on a machine. */
const server = await findTimeSkippingServer();

/** Why no time can be skipped here; undefined if it can. */
export const whyNoTimeSkipping = server.status === 'missing' ? server.reason : undefined;

const WITH_PARENT = fileURLToPath(new URL('../../src/platform/processes/run-with-parent.ts', import.meta.url));
/** A Java program that lives for seconds: compiled once and quickly, and with the collector that starts at once. */
const SHORT_LIVED = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

export interface TimeSkipping {
  readonly env: TestWorkflowEnvironment;
  close(): Promise<void>;
}

/**
 * A server that skips time. The SDK gives the one that it starts five seconds, too little for Java on a busy machine. So it is
 * started here and waited for; the program that the SDK starts, on the same port, does nothing but stay.
 */
export async function timeSkipping(): Promise<TimeSkipping> {
  if (server.status === 'missing') throw new Error(server.reason);
  quietRuntime();
  const port = await freePort();
  const java = spawn(process.execPath, [WITH_PARENT, '1000', server.path, String(port)], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, JDK_JAVA_OPTIONS: SHORT_LIVED },
  });
  const ended = once(java, 'exit');
  const stop = async (): Promise<void> => {
    java.stdin.destroy();
    await ended;
  };
  try {
    while (!(await answers(`127.0.0.1:${port}`))) {
      if (java.exitCode !== null) throw new Error(`the server that skips time ended with ${java.exitCode}`);
      await lookAgain();
    }
    // It gets the port as its argument: so many seconds.
    const executable = { type: 'existing-path', path: '/bin/sleep' } as const;
    const env = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable, port } });
    return {
      env,
      async close() {
        await env.teardown();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function answers(address: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: '10 seconds' });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}
