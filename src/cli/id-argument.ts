import { InvalidArgumentError } from 'commander';

/** Reads the id of a release, cluster, node or run of graphs: a whole number from 1. */
export function idArgument(text: string): string {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('An id is a whole number from 1.');
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
