/** Content of `last_run_summary.yaml`: sections of numbers and texts. */
type PuppetSummary = Readonly<Record<string, Readonly<Record<string, string | number>>>>;

/** Limits of the names in a result: their number, and the length of each. */
const MAX_NAMES = 50;
const LONGEST_NAME = 200;

/**
 * Reads puppet's summary, which is YAML with exactly two levels of plain keys and scalars. Ignores other lines, so that
 * additions of a newer puppet do no harm.
 */
export function readPuppetSummary(text: string): PuppetSummary {
  const sections: Record<string, Record<string, string | number>> = {};
  let section: Record<string, string | number> | undefined;
  for (const line of text.split('\n')) {
    const head = /^(\w+):\s*$/.exec(line);
    if (head !== null) section = sections[head[1]!] = {};
    const entry = /^ {2}"?([^":]+)"?: /.exec(line);
    if (entry === null || section === undefined) continue;
    const value = line
      .slice(entry[0].length)
      .trim()
      .replace(/^(["'])(.*)\1$/, '$2');
    section[entry[1]!] = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(value) ? Number(value) : value;
  }
  return sections;
}

/** A count of the summary; undefined if absent. */
export function countIn(summary: PuppetSummary, section: string, name: string): number | undefined {
  const value = summary[section]?.[name];
  return typeof value === 'number' ? value : undefined;
}

/**
 * Names of the resources that changed and that failed, from `last_run_report.yaml`. Reads it line by line instead of
 * loading its Ruby tags: the relevant lines always have the same indentation, with the resource's name before its status.
 */
export function namesInReport(text: string): { readonly changed: string[]; readonly failed: string[] } {
  const names = { changed: new Set<string>(), failed: new Set<string>() };
  let resource = '';
  const statuses = text.slice(text.search(/^resource_statuses:/m));
  for (const line of statuses.split('\n')) {
    const found = /^ {4}(resource|changed|failed|failed_to_restart): (.*)$/.exec(line);
    if (found === null) continue;
    const [, field, value] = found as unknown as [string, string, string];
    if (field === 'resource') resource = value.replace(/^(["'])(.*)\1$/, '$2').slice(0, LONGEST_NAME);
    else if (value === 'true') names[field === 'changed' ? 'changed' : 'failed'].add(resource);
  }
  return { changed: [...names.changed].slice(0, MAX_NAMES), failed: [...names.failed].slice(0, MAX_NAMES) };
}
