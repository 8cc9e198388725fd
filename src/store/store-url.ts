import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { invalid } from './failure.ts';

/** A parsed store address. `shown` is for messages and never contains a password. */
export type StoreLocation =
  | { readonly dialect: 'sqlite'; readonly file: string; readonly shown: string }
  | { readonly dialect: 'postgres'; readonly url: string; readonly shown: string; readonly secrets: readonly string[] };

const FORMS = 'Use a file path, sqlite:/path/file.db, sqlite::memory: or postgres://user:password@host:5432/database.';

const NO_HOST = 'no-host.invalid';

const refuse = (message: string, hint = FORMS) =>
  invalid([{ severity: 'error', code: 'store.url', message, hint, path: 'url' }]);

/**
 * Parses the address of a store. Accepts `sqlite:/path/file.db`, `sqlite:///path/file.db`, `sqlite::memory:`, a plain
 * file path (`~/` is the home folder), `postgres://…` and `postgresql://…`. A one-letter scheme is a Windows drive.
 *
 * @throws StoreError of kind `invalid`; the message never contains a possible password
 */
export function parseStoreUrl(text: string): StoreLocation {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') return postgresLocation(text);
  if (scheme === 'sqlite') return sqliteLocation(sqlitePath(text.slice('sqlite:'.length)));
  if (scheme !== undefined && text !== ':memory:') throw refuse(`The store cannot be a "${scheme}:" address.`);
  return sqliteLocation(text);
}

function sqlitePath(rest: string): string {
  if (!rest.startsWith('//')) return rest;
  if (!rest.startsWith('///')) {
    throw refuse(
      'A "sqlite://" address cannot have a host.',
      'Write sqlite:///absolute/path.db or sqlite:relative/path.db.',
    );
  }
  try {
    return decodeURIComponent(rest.slice(2));
  } catch {
    throw refuse('The path of the "sqlite://" address has an invalid percent escape.', 'Write a lone % as %25.');
  }
}

function sqliteLocation(path: string): StoreLocation {
  if (path.trim() === '') throw refuse('The store address is empty.');
  if (path.includes('\0')) throw refuse('The store path contains a NUL character.');
  if (path === ':memory:') return { dialect: 'sqlite', file: path, shown: 'sqlite::memory:' };
  const file = resolve(path.replace(/^~(?=\/|$)/, homedir()));
  return { dialect: 'sqlite', file, shown: `sqlite:${file}` };
}

function postgresLocation(text: string): StoreLocation {
  // A unix socket has no host: postgres://user:password@/database?host=/folder. URL requires one after a user.
  const noHost = text.replace(/^([a-z]+:\/\/[^/?#]*@)(?=\/)/i, `$1${NO_HOST}`);
  let url: URL;
  try {
    url = new URL(noHost);
  } catch {
    throw refuse(
      'The PostgreSQL address of the store cannot be read.',
      'Percent-encode special characters in user and password: / is %2F, @ is %40, # is %23, : is %3A.',
    );
  }
  const secrets = new Set<string>();
  const remember = (secret: string): void => {
    if (secret === '') return;
    secrets.add(secret);
    try {
      secrets.add(decodeURIComponent(secret));
    } catch {
      throw refuse('The password in the store address has an invalid percent escape.', 'Write a lone % as %25.');
    }
  };
  remember(url.password);
  const shown = new URL(url);
  if (url.password !== '') shown.password = '***';
  for (const [key, value] of url.searchParams) {
    if (!/password|secret|token|sslkey/i.test(key)) continue;
    remember(encodeURIComponent(value));
    shown.searchParams.set(key, '***');
  }
  return { dialect: 'postgres', url: text, shown: shown.href.replace(`@${NO_HOST}/`, '@/'), secrets: [...secrets] };
}

/** Replaces every secret in a text by `***`. */
export const redact = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
