import { isSecretKey, withoutSecretValues } from '../../core/text/secrets.ts';
import { canonicalJson } from '../../documents/canonical-json.ts';
import type { GraphTask } from '../tasks/task.ts';

/** Differences between two graphs, by task id. */
interface GraphDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly task: string; readonly fields: readonly FieldDifference[] }[];
}

interface FieldDifference {
  readonly field: string;
  /** Absent when the field is new. */
  readonly before?: unknown;
  /** Absent when the field was removed. */
  readonly after?: unknown;
}

/** Compares tasks by id and field, for people: secrets are not shown. The spelling of fields and the order of tasks do not count. */
export function diffGraphs(before: readonly GraphTask[], after: readonly GraphTask[]): GraphDifference {
  const [old, now] = [before, after].map((tasks) => new Map(tasks.map((task) => [task.id, task])));
  return {
    added: [...now!.keys()].filter((id) => !old!.has(id)),
    removed: [...old!.keys()].filter((id) => !now!.has(id)),
    changed: [...now!].flatMap(([task, fields]) => {
      const earlier = old!.get(task);
      const differences = earlier === undefined ? [] : diffFields(earlier, fields);
      return differences.length === 0 ? [] : [{ task, fields: differences }];
    }),
  };
}

function diffFields(before: GraphTask, after: GraphTask): FieldDifference[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return fields.flatMap((field): FieldDifference[] => {
    const [had, has] = [Object.hasOwn(before, field), Object.hasOwn(after, field)];
    if (had && has && canonicalJson(before[field]) === canonicalJson(after[field])) return [];
    const shown = (value: unknown): unknown => withoutSecretValues(value, isSecretKey(field));
    return [
      { field, ...(had ? { before: shown(before[field]) } : {}), ...(has ? { after: shown(after[field]) } : {}) },
    ];
  });
}

/** The difference as text: `+` and `-` for tasks, `~` for changed ones with their fields below. */
export function diffText({ added, removed, changed }: GraphDifference): string {
  const lines = [
    ...added.map((id) => `+ ${id}`),
    ...removed.map((id) => `- ${id}`),
    ...changed.flatMap(({ task, fields }) => [
      `~ ${task}`,
      ...fields.map(
        ({ field, before, after }) =>
          `    ${field}: ${before === undefined ? '(none)' : canonicalJson(before)} -> ${after === undefined ? '(none)' : canonicalJson(after)}`,
      ),
    ]),
  ];
  return lines.length === 0 ? 'no difference\n' : `${lines.join('\n')}\n`;
}
