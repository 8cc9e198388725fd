import type { GlobalFlags } from './api-address.ts';
import type { Terminal } from './terminal.ts';

/** The flags by which this command line named a system, as they are typed again. None of an address with a password. */
export function typedSystem({ api, context }: GlobalFlags): string | undefined {
  if (api?.includes('@')) return undefined;
  const [flag, value] = api === undefined ? ['--context', context] : ['--api', api];
  if (value === undefined) return undefined;
  return `${flag} ${/^[\w.:/-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;
}

/**
 * Commands in quotes, after a colon or blanks, or at the start of a line. Not those that start a process or work on this
 * machine: they are for no other system.
 */
const COMMAND =
  /(^|['‘`]|: | {2})sitewright (?=[a-z])(?!(?:agent|api|completion|config|context|db|demo|gateway|guard-ui|identity|init|maas|schemas|up|version|worker|yaql)\b)/gm;

/** A text of ours with its commands for the system that this command line named, also where another one is in use. */
export const forTypedSystem = ({ typed }: Pick<Terminal, 'typed'>, text: string): string =>
  typed === undefined ? text : text.replace(COMMAND, (_command, before: string) => `${before}sitewright ${typed} `);
