import { type Command, InvalidArgumentError } from 'commander';

export const isId = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text);

/** Reads the id of a release, plugin, sequence or run of graphs: a whole number from 1. */
export function idArgument(text: string): string {
  if (!isId(text)) throw new InvalidArgumentError('An id is a whole number from 1.');
  return text;
}

/** Reads several ids, repeated or separated by commas. */
export function idListArgument(text: string, before: readonly number[] | undefined): readonly number[] {
  const ids = text.split(',').filter((one) => one.trim() !== '');
  return [...(before ?? []), ...ids.map((one) => Number(idArgument(one.trim())))];
}

/** Reads several names, repeated or separated by commas. */
export function nameListArgument(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...text.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]))];
}

/** Reads the maximum number of entries to show. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000)
    throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
  return number;
}

/** Reads a cluster: its id, or its name, for which its id is put before the command runs. */
export function clusterArgument(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Name a cluster, or give its id.');
  return text;
}

type IdsAndNames = readonly (number | string)[];

/** Reads several clusters, as `clusterArgument`, repeated or separated by commas. */
export const clusterListArgument = (text: string, before: IdsAndNames | undefined): IdsAndNames => [
  ...(before ?? []),
  ...nameListArgument(text, []).map((one) => (isId(one) ? Number(one) : one)),
];

/** Reads several nodes, by their ids or names, repeated or separated by commas. */
export const nodeListArgument = (text: string, before: IdsAndNames | undefined): IdsAndNames =>
  clusterListArgument(text, before);

const NAMED: ReadonlySet<unknown> = new Set([clusterArgument, clusterListArgument, nodeListArgument]);

/** Whether a command was given names in place of ids. */
export function hasNames(command: Command): boolean {
  const given = [
    ...command.options.map((one) => [one.parseArg, command.getOptionValue(one.attributeName())] as const),
    ...command.registeredArguments.map((one, at) => [one.parseArg, command.processedArgs[at]] as const),
  ];
  return given.some(
    ([parser, value]) => NAMED.has(parser) && value !== undefined && ![value].flat().map(String).every(isId),
  );
}
