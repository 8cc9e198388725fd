import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { whyNotPrivate } from '../../platform/secrets/why-not-private.ts';
import type { GlobalFlags } from './api-address.ts';
import { usageError } from './problem.ts';
import { readInput } from './read-input.ts';
import type { Terminal } from './terminal.ts';

/**
 * The token for the API: the content of `--token-file`, else SITEWRIGHT_TOKEN; undefined for none. Messages never
 * contain any part of it.
 */
export async function apiToken(
  { env, cwd }: Terminal,
  flags: Pick<GlobalFlags, 'tokenFile'>,
): Promise<string | undefined> {
  if (flags.tokenFile === undefined) {
    const token = env.SITEWRIGHT_TOKEN?.trim();
    return token ? checkedToken(token, 'SITEWRIGHT_TOKEN') : undefined;
  }
  const file = resolve(cwd, flags.tokenFile);
  // Its reader says why it cannot be read.
  const state = await stat(file).catch(() => undefined);
  const why = state && whyNotPrivate(file, state);
  if (why !== undefined) throw usageError(`${file} ${why.what}`, why.fix);
  const text = await readInput(file, { hint: 'Put the token in it, mode 600.' });
  return checkedToken(text.trim(), file);
}

/** @throws CliError if it cannot be one */
export function checkedToken(token: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError(
    `${from} does not contain a token`,
    'A token is one line without spaces, as shown when it was created.',
  );
}

/**
 * A `fetch` that also trusts the authority in the file of SITEWRIGHT_CA_FILE, else in that of the context.
 * Undefined without one.
 */
export async function trustingFetch({ env, cwd }: Terminal, ofContext?: string): Promise<typeof fetch | undefined> {
  const named = env.SITEWRIGHT_CA_FILE || ofContext;
  if (!named) return undefined;
  const file = resolve(cwd, named);
  const [{ Agent, fetch: ask }, { rootCertificates }] = await Promise.all([import('undici'), import('node:tls')]);
  const hint = 'Name the certificate of the authority with SITEWRIGHT_CA_FILE, or in the context.';
  const authority = await readInput(file, { hint });
  const dispatcher = new Agent({ connect: { ca: [...rootCertificates, authority] } });
  return ((input: string, init: object) => ask(input, { ...init, dispatcher })) as unknown as typeof fetch;
}
