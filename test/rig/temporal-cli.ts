import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { TemporalRig } from './temporal.ts';

/** Temporal's own command line, as an operator types it: `temporal …`. Resolves with its output. */
export async function temporalCli({ address, namespace }: TemporalRig, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  return (await promisify(execFile)(inject('temporalBinary'), args, { env, timeout: 60_000 })).stdout;
}
