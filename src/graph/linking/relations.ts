import { isMapping, kindOf, type ValuePath } from '../../core/data/plain-value.ts';
import { truthy } from '../fields/truth.ts';
import { GraphProblemError } from '../problem.ts';
import { type NamePattern, namePattern } from '../tasks/name-pattern.ts';

/** Tasks that a task waits for, or that wait for it: names, and where to look for them. */
export interface Relation {
  readonly name: NamePattern;
  /** As the user wrote it. */
  readonly written: string;
  readonly where: Where;
}

/**
 * `near`: the same node and the sync node. `self`: the same node. `sync`: the sync node. `tags`: the nodes with these
 * tags, or the lowest of them.
 */
type Where =
  | { readonly on: 'near' | 'self' | 'sync' }
  | { readonly on: 'tags'; readonly tags: unknown; readonly policy: 'all' | 'any' };

/** Reads `requires` or `required_for`. Throws GraphProblemError with the path below the field. */
export function nearRelations(value: unknown): Relation[] {
  if (!truthy(value)) return [];
  if (!Array.isArray(value)) {
    throw new GraphProblemError(
      'graph.bad-dependency',
      `must be a list of task names, not ${kindOf(value)}`,
      'Write ["task", "/regex/"].',
    );
  }
  return value.map((name: unknown, at) => ({
    name: below([at], () => namePattern(name)),
    written: String(name),
    where: { on: 'near' },
  }));
}

/** Reads `cross_depends` or `cross_depended_by`. Null and empty entries are ignored. */
export function crossRelations(value: unknown): Relation[] {
  if (!truthy(value)) return [];
  if (!Array.isArray(value)) {
    throw new GraphProblemError(
      'graph.bad-dependency',
      `must be a list of relations, not ${kindOf(value)}`,
      'Write [{name: …, role: …}].',
    );
  }
  return value.flatMap((entry: unknown, at) => (truthy(entry) ? [below([at], () => crossRelation(entry))] : []));
}

function crossRelation(entry: unknown): Relation {
  if (!isMapping(entry)) {
    throw new GraphProblemError(
      'graph.bad-dependency',
      `a relation must be a mapping, not ${kindOf(entry)}`,
      'Write {name: …, role: …}.',
    );
  }
  if (!Object.hasOwn(entry, 'name')) {
    throw new GraphProblemError(
      'graph.bad-dependency',
      'the relation has no name',
      'Add the name of a task, or "/regex/".',
    );
  }
  const name = below(['name'], () => namePattern(entry.name));
  return { name, written: entry.name as string, where: whereOf(entry) };
}

function whereOf(entry: Readonly<Record<string, unknown>>): Where {
  const by = (['tags', 'role'] as const).filter((field) => Object.hasOwn(entry, field));
  const field = by.find((one) => truthy(entry[one])) ?? by.at(-1);
  const tags = field === undefined ? '*' : entry[field];
  if (tags === 'self') return { on: 'self' };
  if (tags === null) return { on: 'sync' };
  return { on: 'tags', tags, policy: policyOf(entry) };
}

function policyOf({ policy }: Readonly<Record<string, unknown>>): 'all' | 'any' {
  if (policy === 'any' || policy === 'all') return policy;
  if (!truthy(policy)) return 'all';
  throw new GraphProblemError('graph.bad-dependency', `${JSON.stringify(policy)} is not a policy`, 'Use all or any.', [
    'policy',
  ]);
}

export function below<T>(path: ValuePath, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    throw new GraphProblemError(error.code, error.message, error.hint, [...path, ...error.below]);
  }
}
