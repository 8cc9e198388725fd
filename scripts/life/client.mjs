// The users of the service: ApacheBench, through the virtual address.
import { start } from './processes.mjs';

/** Waits for SIGTERM, then ends ApacheBench so that it prints what it counted. */
const COUNTING = 'ab "$@" & client=$!; trap "kill -INT $client" TERM; wait $client; wait $client';

/**
 * Requests while `work` runs.
 *
 * @param {string} url
 * @param {(() => unknown)[]} ends
 * @param {() => Promise<unknown>} work
 * @returns {Promise<{ made: number, failed: number }>}
 */
export async function underLoad(url, ends, work) {
  const options = ['-l', '-r', '-c', '2', '-s', '120', '-t', '3600', '-n', '100000000', url];
  const client = start(['nice', 'sh', '-c', COUNTING, 'ab', ...options]);
  ends.push(client.stop);
  try {
    await work();
    await client.stop();
    const output = client.lines().join('\n');
    const count = (/** @type {string} */ name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(output)?.[1] ?? 0);
    const made = count('Complete requests');
    if (made === 0) throw new Error(`the client made no request:\n${output}`);
    return { made, failed: count('Failed requests') + count('Non-2xx responses') };
  } finally {
    await client.stop();
  }
}
