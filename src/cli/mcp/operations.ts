import { z } from 'zod';
import { API } from '../../core/contracts/api.ts';
import type { Route } from '../../core/contracts/route.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { usageError } from '../shell/problem.ts';
import { isChange } from '../shell/would-change.ts';

/** An operation of the API, by its route. */
export interface Operation {
  readonly at: keyof typeof API & string;
  readonly route: Route;
  readonly changes: boolean;
}

/** The parts of a request, as a model gives them. */
export interface OperationArguments {
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly body?: unknown;
}

/** All operations that take and answer JSON or text: no streams, no archives, no sign-in. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries<Route>(API).flatMap(([at, route]) => {
    const [, path = ''] = at.split(' ');
    if (route.upload || route.events !== undefined || path.startsWith('/webhooks') || route.tag === 'access') return [];
    return [[route.id, { at: at as keyof typeof API, route, changes: isChange(at) }] as const];
  }),
);

/** @throws CliError with a suggestion */
export function operationNamed(id: string): Operation {
  const found = OPERATIONS.get(id);
  if (found !== undefined) return found;
  throw usageError(
    `there is no operation '${id}'`,
    didYouMean(id, [...OPERATIONS.keys()]) ?? 'Search for one with find_operations.',
  );
}

/** The operation of a route. */
export const operationAt = (at: keyof typeof API): Operation => OPERATIONS.get((API[at] as Route).id)!;

/** Those whose names, summaries or paths have all the words; readable ones first. */
export function findOperations(words: string, withChanges: boolean): readonly object[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return [...OPERATIONS.values()]
    .filter(({ changes }) => withChanges || !changes)
    .filter(({ at, route }) => {
      const text = `${route.id} ${at} ${route.summary} ${route.tag ?? ''}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    })
    .sort((a, b) => Number(a.changes) - Number(b.changes))
    .map(({ at, route, changes }) => ({
      operation: route.id,
      at,
      changes,
      needs: route.access,
      summary: route.summary,
    }));
}

/** What an operation takes, as JSON Schemas, and what it is for. */
export function describeOperation({ at, route, changes }: Operation): object {
  const part = (name: 'params' | 'query' | 'body') =>
    route[name] === undefined ? {} : { [name]: jsonSchema(route[name]) };
  return {
    operation: route.id,
    at,
    changes,
    needs: route.access,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    ...part('params'),
    ...part('query'),
    ...part('body'),
  };
}

function jsonSchema(schema: z.ZodType): object {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return shape;
}
