import { type Command, InvalidArgumentError } from 'commander';
import { isId, type NamedKind } from '../../core/names.ts';

/** Reads a whole number from 1. */
export function idArgument(text: string): string {
  if (!isId(text)) throw new InvalidArgumentError('An id is a whole number from 1.');
  return text;
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

/** What an option or argument is of: a thing with id and name, or a run of graphs. */
export type Referred = NamedKind | 'transaction';

const REFERENCES = new Map<unknown, { readonly of: Referred; readonly isList: boolean }>();

/** Reads an id or a name, for which the id is put before the command runs. */
function reference(of: Referred): (text: string) => string {
  const read = (text: string) => {
    if (text.trim() === '') throw new InvalidArgumentError(`Name a ${of}, or give its id.`);
    return text;
  };
  REFERENCES.set(read, { of, isList: false });
  return read;
}

type IdsAndNames = readonly (number | string)[];

/** Reads several, repeated or separated by commas. */
function references(of: NamedKind): (text: string, before: IdsAndNames | undefined) => IdsAndNames {
  const read = (text: string, before: IdsAndNames | undefined): IdsAndNames => [
    ...(before ?? []),
    ...nameListArgument(text, []).map((one) => (isId(one) ? Number(one) : one)),
  ];
  REFERENCES.set(read, { of, isList: true });
  return read;
}

export const clusterArgument = reference('cluster');
export const releaseArgument = reference('release');
export const pluginArgument = reference('plugin');
export const sequenceArgument = reference('sequence');
/** A run of graphs, or a graph of one, by its transaction; or a run by any of its names, as `run show` takes them. */
export const transactionArgument = reference('transaction');
export const nodeArgument = reference('node');

export const clusterListArgument = references('cluster');
export const releaseListArgument = references('release');
export const pluginListArgument = references('plugin');
export const nodeListArgument = references('node');

/** What is referred to by an option or argument that is read so. */
export const referenceOf = (parser: unknown): { readonly of: Referred; readonly isList: boolean } | undefined =>
  REFERENCES.get(parser);

/** Whether a command was given names in place of ids. */
export function hasNames(command: Command): boolean {
  const given = [
    ...command.options.map((one) => [one.parseArg, command.getOptionValue(one.attributeName())] as const),
    ...command.registeredArguments.map((one, at) => [one.parseArg, command.processedArgs[at]] as const),
  ];
  return given.some(
    ([parser, value]) =>
      REFERENCES.has(parser) && value !== undefined && value !== true && ![value].flat().map(String).every(isId),
  );
}
