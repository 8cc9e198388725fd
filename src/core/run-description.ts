import { isMapping } from './plain-value.js';
import { type Shape, valueThat } from './shape.js';

/** How the user who starts a run may describe it, so that others find it later. Each field is optional. */
export interface RunDescription {
  /** One line that lists of runs show; at most 200 characters. */
  readonly title?: string;
  /** Any text, as Markdown; at most 10,000 characters. */
  readonly description?: string;
  /** Names and values to search for, at most 50. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Labels that Sitewright sets: lists and reports of graph runs read them. */
const OWN_LABELS = ['cluster', 'transaction'];

const LONGEST_TITLE = 200;
const LONGEST_DESCRIPTION = 10_000;
const MOST_LABELS = 50;
const LONGEST_VALUE = 200;

/** No colons: they separate names from values when labels are written as text. */
const LABEL_NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const oneLine = (text: string): boolean => !/\p{Cc}/u.test(text);

/** The fields of a description, for the input of every kind of run. */
export const descriptionFields: { readonly [Key in keyof RunDescription]-?: Shape<NonNullable<RunDescription[Key]>> } =
  {
    title: valueThat(
      (value) => typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_TITLE && oneLine(value),
      `must be one line of 1 to ${LONGEST_TITLE} characters`,
    ),
    description: valueThat(
      (value) => typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_DESCRIPTION,
      `must be a text of 1 to ${LONGEST_DESCRIPTION} characters`,
    ),
    labels: {
      problems: (value, path) => {
        const message = labelsProblem(value);
        return message === undefined ? [] : [{ kind: 'wrong', path, message }];
      },
    },
  };

function labelsProblem(value: unknown): string | undefined {
  if (!isMapping(value)) return 'must be an object of names and texts, e.g. {"team":"storage"}';
  const all = Object.entries(value);
  if (all.length > MOST_LABELS) return `must have at most ${MOST_LABELS} labels`;
  const problems = all.map(([name, text]) => labelProblem(name, text)).filter((one) => one !== null);
  return problems.length === 0 ? undefined : problems.join('; ');
}

function labelProblem(name: string, text: unknown): string | null {
  if (!LABEL_NAME.test(name))
    return `has the name ${JSON.stringify(name.slice(0, 80))}: write letters, digits and . _ / - (63 at most, the first a letter or digit)`;
  if (OWN_LABELS.includes(name)) return `cannot set '${name}': the name is reserved for Sitewright`;
  if (typeof text !== 'string' || text.length > LONGEST_VALUE || !oneLine(text))
    return `must have one line of at most ${LONGEST_VALUE} characters for '${name}'`;
  return null;
}

/** The title and labels that are stored with the run: the user's, with `own` as defaults and reserved labels. */
export function describedRun(
  { title, labels }: RunDescription,
  own: { readonly title?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): { readonly title?: string; readonly labels?: Readonly<Record<string, string>> } {
  const called = title ?? own.title;
  const all = labels === undefined && own.labels === undefined ? undefined : { ...labels, ...own.labels };
  return { ...(called === undefined ? {} : { title: called }), ...(all === undefined ? {} : { labels: all }) };
}
