import { given } from '../../core/data/given.ts';
import type { RunDescription } from '../../core/run/description.ts';
import { usageError } from '../shell/problem.ts';

/** The values of `--title`, `--description` and `--label`. */
export interface DescriptionFlags {
  readonly title?: string;
  readonly description?: string;
  readonly label?: readonly string[];
}

/** The fields of a request body. @throws CliError for an invalid or repeated label */
export function descriptionOf({ title, description, label }: DescriptionFlags): RunDescription {
  const labels = label?.map(readLabel);
  const twice = labels?.find(([name], at) => labels.findIndex(([other]) => other === name) < at);
  if (twice !== undefined) throw usageError(`the label ${twice[0]} is repeated`, 'Give it one value.');
  return {
    ...given({ title, description }),
    ...(labels === undefined ? {} : { labels: Object.fromEntries(labels) }),
  };
}

function readLabel(text: string): [name: string, value: string] {
  const at = text.indexOf(':');
  if (at < 1) throw usageError(`'${text}' is not a label`, 'Write NAME:VALUE, such as team:storage.');
  return [text.slice(0, at), text.slice(at + 1)];
}
