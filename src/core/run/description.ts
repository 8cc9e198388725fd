import type { ZodMiniObject } from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { given } from '../data/given.ts';
import { isMapping } from '../data/plain-value.ts';
import { checkFields, lineOf, listOf, optional, rule, textOf, valueThat } from '../data/schema.ts';

/** Limits of characters in user input and of items in a list. Each way in checks them: API, command line, Temporal. */
export const MAX = {
  title: 200,
  description: 10_000,
  labels: 50,
  labelValue: 200,
  /** Points at which a run waits for approval. */
  holds: 100,
  /** Who does something: Temporal's keyword attributes hold 255 characters. */
  actor: 200,
  reason: 2000,
  /** Of a site, node, graph or task. */
  name: 1000,
  /** In a list. */
  names: 10_000,
} as const;

/** Labels that Sitewright sets: lists and reports of graph runs read them. */
const OWN_LABELS = ['cluster'];

/** No colons: they separate names from values when labels are written as text. */
const LABEL_NAME = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const labelValue = lineOf(MAX.labelValue, 0);

/** How the user who starts a run may describe it, so that others find it later. */
const descriptionFields = optional({
  /** One line that lists of runs show; at most 200 characters. */
  title: lineOf(MAX.title),
  /** Any text, as Markdown; at most 10,000 characters. */
  description: textOf(MAX.description),
  /** Names and values to search for, at most 50. */
  labels: valueThat<Readonly<Record<string, string>>>(
    (value) => labelsProblem(value) === undefined,
    (value) => labelsProblem(value) ?? '',
  ),
});

export type RunDescription = Wire<ZodMiniObject<typeof descriptionFields>>;

function labelsProblem(value: unknown): string | undefined {
  if (!isMapping(value)) return 'must be an object of names and texts, e.g. {"team":"storage"}';
  const all = Object.entries(value);
  if (all.length > MAX.labels) return `must have at most ${MAX.labels} labels`;
  const problems = all.map(([name, text]) => labelProblem(name, text)).filter((one) => one !== null);
  return problems.length === 0 ? undefined : problems.join('; ');
}

function labelProblem(name: string, text: unknown): string | null {
  if (!LABEL_NAME.test(name))
    return `has the name ${JSON.stringify(name.slice(0, 80))}: write letters, digits and . _ / - (63 at most, the first a letter or digit)`;
  if (OWN_LABELS.includes(name)) return `cannot set '${name}': the name is reserved for Sitewright`;
  if (!checkFields(labelValue, text).ok)
    return `must have one line of at most ${MAX.labelValue} characters for '${name}'`;
  return null;
}

/** The field `hold_before` of a run's input. */
export const holdNames = listOf(lineOf(MAX.name), 1, MAX.holds).check(
  rule((names) => {
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    return twice === undefined ? undefined : `names ${twice} twice`;
  }),
);

/** In the input of every kind of run. */
export const startFields = {
  ...optional({
    started_by: lineOf(MAX.actor),
    /** Who made the schedule that starts the run, and who triggered it; set by the service. None of them may approve. */
    responsible: listOf(lineOf(MAX.actor), 0, 1_000),
    reason: textOf(MAX.reason),
  }),
  ...descriptionFields,
};

/** Who asks something of a run, and why. */
export const noteFields = optional({
  by: lineOf(MAX.actor),
  reason: textOf(MAX.reason),
  /** Entry of the audit trail with which an API passes it on. Absent: it came another way, and `by` is a claim. */
  entry: lineOf(MAX.actor),
});

/** The title and labels that are stored with the run: the user's, with `own` as defaults and reserved labels. */
export function describedRun(
  { title, labels }: RunDescription,
  own: { readonly title?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): { readonly title?: string; readonly labels?: Readonly<Record<string, string>> } {
  const called = title ?? own.title;
  const all = labels === undefined && own.labels === undefined ? undefined : { ...labels, ...own.labels };
  return given({ title: called, labels: all });
}
