import { readFileSync } from 'node:fs';
import type { Logger } from '../telemetry/log.js';

const LOOK_EVERY_MS = 10_000;

/**
 * Reads the key of `temporal.api_key_file`.
 *
 * @throws Error for the user, naming the setting, if the file cannot be read or is empty
 */
export function readApiKey(file: string): string {
  const key = contentOf(file, 'temporal.api_key_file').toString('utf8').trim();
  if (key === '') throw new Error(`the file of temporal.api_key_file, ${file}, is empty`);
  return key;
}

/** @throws Error for the user, naming the setting; never with the content of the file */
export function contentOf(file: string, setting: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(`the file of ${setting}, ${file}, cannot be read (${code})`, { cause: error });
  }
}

interface Keyed {
  setApiKey(key: string): unknown;
}

/**
 * Gives open connections the key that `temporal.api_key_file` has now, so that rotating it needs no restart. While the
 * file cannot be read, they keep the key they have.
 *
 * @returns ends it
 */
export function followApiKey(
  { api_key_file: file }: { readonly api_key_file?: string | undefined },
  connections: readonly Keyed[],
  log: Pick<Logger, 'info' | 'warn'>,
  everyMs = LOOK_EVERY_MS,
): () => void {
  if (file === undefined) return () => undefined;
  let known = readApiKey(file);
  let isUnreadable = false;
  const look = async (): Promise<void> => {
    try {
      const key = readApiKey(file);
      isUnreadable = false;
      if (key === known) return;
      await Promise.all(connections.map((connection) => connection.setApiKey(key)));
      known = key;
      log.info('the API key for Temporal was replaced');
    } catch (error) {
      if (!isUnreadable)
        log.warn({ err: error }, 'the API key for Temporal could not be read; the last one stays in use');
      isUnreadable = true;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
