import type { Command } from 'commander';
import { idOfName, isId, type Named, type NamedKind, namesOfNode, namesOfVersion } from '../../core/names.ts';
import { findRun } from '../commands/find-run.ts';
import type { ApiClient } from './client.ts';
import { EXIT } from './exit-codes.ts';
import { type Referred, referenceOf } from './id-argument.ts';
import { CliError } from './problem.ts';
import type { Session } from './session.ts';

const withVersions = (all: readonly { readonly id: number; readonly name: string; readonly version: string }[]) =>
  all.map(({ id, name, version }) => ({ id, name, also: namesOfVersion(name, version) }));

const LISTS: Readonly<Record<NamedKind, (client: ApiClient) => Promise<readonly Named[]>>> = {
  cluster: (client) => client.call('GET /clusters'),
  node: async (client) =>
    (await client.call('GET /nodes')).map(({ id, name, hostname }) => ({ id, name, also: namesOfNode(hostname) })),
  release: async (client) => withVersions(await client.call('GET /releases')),
  plugin: async (client) => withVersions(await client.call('GET /plugins')),
  sequence: (client) => client.call('GET /sequences/'),
};

/** All things of a kind, with their names. */
export const namedThings = (client: ApiClient, kind: NamedKind): Promise<readonly Named[]> => LISTS[kind](client);

/** Puts ids for the names that a command was given. Asks the API only if there are names. */
export async function putIdsForNames(command: Command, session: Session): Promise<void> {
  const idsOf = async (parser: unknown, value: unknown): Promise<unknown> => {
    const reference = referenceOf(parser);
    // `true`: an option whose value may be left out.
    if (reference === undefined || value === undefined || value === true) return value;
    const given = [value].flat().map(String);
    const ids = given.every(isId) ? given : await idsOfNames(session, reference.of, given);
    return reference.isList ? ids.map(Number) : ids[0];
  };
  for (const option of command.options) {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    const ids = await idsOf(option.parseArg, value);
    if (ids !== value) command.setOptionValueWithSource(name, ids, command.getOptionValueSource(name) ?? 'cli');
  }
  for (const [at, argument] of command.registeredArguments.entries())
    command.processedArgs[at] = await idsOf(argument.parseArg, command.processedArgs[at]);
}

async function idsOfNames(session: Session, kind: Referred, given: readonly string[]): Promise<readonly string[]> {
  const client = await session.client();
  if (kind === 'transaction') return Promise.all(given.map((one) => (isId(one) ? one : transactionOf(client, one))));
  const known = await namedThings(client, kind);
  return given.map((one) => {
    if (isId(one)) return one;
    const id = String(idIn(kind, one, known));
    session.called.set(`${kind} ${id}`, one);
    return id;
  });
}

/** The id of a name, among these. @throws CliError with a suggestion */
export function idIn(kind: NamedKind, name: string, known: readonly Named[]): number {
  const answer = idOfName(kind, name, known);
  if (answer.ok) return answer.id;
  const { why, message, hint } = answer;
  if (why === 'unknown') throw new CliError({ code: 'not-found', message, hint }, EXIT.notFound);
  throw new CliError({ code: 'usage', message, hint }, EXIT.invalid);
}

async function transactionOf(client: ApiClient, reference: string): Promise<string> {
  const run = await findRun(client, reference);
  if (run.cluster !== null && run.number !== null) return String(run.number);
  throw new CliError(
    {
      code: 'not-found',
      message: `run '${reference}' is not a run of graphs`,
      hint: `See it with: sitewright run show ${reference}`,
    },
    EXIT.notFound,
  );
}
