import type { Command } from 'commander';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { ApiClient } from './client.ts';
import { EXIT } from './exit-codes.ts';
import { clusterArgument, clusterListArgument, isId, nodeListArgument } from './id-argument.ts';
import { CliError, usageError } from './problem.ts';
import type { Session } from './session.ts';

type Named = { readonly id: number; readonly name: string };

const clusters = (client: ApiClient): Promise<readonly Named[]> => client.call('GET /clusters');
const nodes = (client: ApiClient): Promise<readonly Named[]> => client.call('GET /nodes');

/** By how an option or argument is read: the kind of its names, and the value for the command. */
const NAMES = new Map<unknown, { readonly what: string; readonly list: typeof clusters; readonly isList: boolean }>([
  [clusterArgument, { what: 'cluster', list: clusters, isList: false }],
  [clusterListArgument, { what: 'cluster', list: clusters, isList: true }],
  [nodeListArgument, { what: 'node', list: nodes, isList: true }],
]);

/** Puts ids for the names of clusters and nodes that a command was given. Asks the API only if there are names. */
export async function putIdsForNames(command: Command, session: Session): Promise<void> {
  const idsOf = async (parser: unknown, value: unknown): Promise<unknown> => {
    const named = NAMES.get(parser);
    if (named === undefined || value === undefined) return value;
    const given = [value].flat().map(String);
    const known = given.every(isId) ? [] : await named.list(await session.client());
    const ids = given.map((one) => (isId(one) ? one : idOf(one, named.what, known)));
    return named.isList ? ids.map(Number) : ids[0];
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

function idOf(name: string, what: string, known: readonly Named[]): string {
  const [found, ...more] = known.filter((one) => one.name === name);
  if (more.length > 0) {
    const ids = [found!, ...more].map(({ id }) => id);
    throw usageError(`there are ${ids.length} ${what}s named '${name}'`, `Give the id of one: ${ids.join(', ')}.`);
  }
  if (found !== undefined) return String(found.id);
  const names = known.map((one) => one.name);
  const hint = didYouMean(name, names) ?? `See ids and names: sitewright ${what} list`;
  throw new CliError({ code: 'not-found', message: `there is no ${what} '${name}'`, hint }, EXIT.notFound);
}
