import type { RunDescription } from '../core/run-description.js';
import { usageError } from './problem.js';

/** What `--title`, `--description` and `--label` of commands that start a run say. */
export interface DescriptionFlags {
  readonly title?: string;
  readonly description?: string;
  readonly label?: readonly string[];
}

/** As the body of a request has it. @throws CliError naming a label that is none, or that is given twice */
export function descriptionOf({ title, description, label }: DescriptionFlags): RunDescription {
  const labels = label?.map(readLabel);
  const twice = labels?.find(([name], at) => labels.findIndex(([other]) => other === name) < at);
  if (twice !== undefined) throw usageError(`the label ${twice[0]} is given twice`, 'Give it one value.');
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(labels === undefined ? {} : { labels: Object.fromEntries(labels) }),
  };
}

function readLabel(text: string): [name: string, value: string] {
  const at = text.indexOf(':');
  if (at < 1) throw usageError(`'${text}' is no label`, 'Write NAME:VALUE, as in team:storage.');
  return [text.slice(0, at), text.slice(at + 1)];
}
