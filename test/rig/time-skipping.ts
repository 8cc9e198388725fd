import { TestWorkflowEnvironment } from '@temporalio/testing';
import { quietRuntime } from './temporal.ts';
import { findTimeSkippingServer } from './time-skipping-server.ts';

/** Downloaded the first time on a machine. */
const server = await findTimeSkippingServer();

/** Why no time can be skipped here; undefined if it can. */
export const whyNoTimeSkipping = server.status === 'missing' ? server.reason : undefined;

/** The SDK gives the server five seconds, which is little for Java on a busy machine. */
const TOO_SLOW = /did not start within/;
const TRIES = 10;

/** A server that skips time. */
export async function timeSkipping(): Promise<TestWorkflowEnvironment> {
  if (server.status === 'missing') throw new Error(server.reason);
  quietRuntime();
  const executable = { type: 'existing-path', path: server.path } as const;
  for (let tries = 1; ; tries += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && TOO_SLOW.test(error.message))) throw error;
    }
  }
}
