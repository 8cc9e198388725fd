import { once } from 'node:events';

/** The child's side of Child. */
export const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** Reports that everything is loaded, and waits for the parent's word: so that several start at the same moment. */
export async function readyToGo(): Promise<void> {
  say('ready');
  await once(process.stdin, 'data');
}
