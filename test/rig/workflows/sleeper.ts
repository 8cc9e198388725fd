import { sleep } from '@temporalio/workflow';

/** Sleeps and returns the duration, in hours: to prove that a test server skips time. */
export async function sleeper(hours: number): Promise<string> {
  await sleep(hours * 60 * 60 * 1000);
  return `slept ${hours} h`;
}
