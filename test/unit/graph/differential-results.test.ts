import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Json, resultOf } from './recorded.ts';

const cases = readFileSync(new URL('../../data/fuel/differential.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Json);

const relation = (one: Json): string => `${one.name} ${one.node_id}`;

/** Relations in one order, without those of a task to itself, which we never make (they could not be met). */
function comparable(graph: Record<string, Json[]>): unknown {
  const relations = (task: Json, node: string, key: string): Json => {
    const others = (task[key] ?? []).filter((one: Json) => one.name !== task.id || String(one.node_id) !== node);
    return others.length === 0 ? {} : { [key]: others.map(relation).sort() };
  };
  return Object.fromEntries(
    Object.entries(graph).map(([node, tasks]) => [
      node,
      tasks.map(({ requires, required_for, ...task }) => ({
        ...task,
        ...relations({ ...task, requires }, node, 'requires'),
        ...relations({ ...task, required_for }, node, 'required_for'),
      })),
    ]),
  );
}

describe('random graphs, as the reference plans them', () => {
  it('have cases', () => expect(cases.length).toBeGreaterThan(40));

  it.each(cases.map((one) => [one.id as string, one] as const))('%s', (_id, { id, expected, ...input }) => {
    const { tasks_graph, tasks_metadata, tasks_directory } = resultOf(input);
    expect(comparable(tasks_graph as unknown as Record<string, Json[]>)).toEqual(comparable(expected.tasks_graph));
    expect({ tasks_metadata, tasks_directory }).toEqual({
      tasks_metadata: expected.tasks_metadata,
      tasks_directory: expected.tasks_directory,
    });
  });
});
