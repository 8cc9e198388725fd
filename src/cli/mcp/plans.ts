import { createHash } from 'node:crypto';
import type { API } from '../../core/contracts/api.ts';
import { given } from '../../core/data/given.ts';
import { canonicalJson } from '../../documents/canonical-json.ts';
import type { ApiClient } from '../shell/client.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError, usageError } from '../shell/problem.ts';
import { OPERATIONS, type Operation, type OperationArguments, operationAt } from './operations.ts';

type At = keyof typeof API;

/** A request that tells beforehand what a change does. */
interface Preview {
  readonly at: At;
  readonly ask: OperationArguments;
}

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};

const samePlace =
  (at: At) =>
  ({ params }: OperationArguments): readonly Preview[] => [{ at, ask: { params } }];

/** Changes with a plan of their own. Without an entry, the plan shows the thing as it is now. */
const PREVIEWS: Readonly<Partial<Record<At, (given: OperationArguments) => readonly Preview[]>>> = {
  'POST /clusters/:id/move': ({ params, body }) => {
    const { release, plugins, back } = fieldsOf(body);
    const query = {
      ...(release !== undefined && { release: String(release) }),
      ...(Array.isArray(plugins) && { plugins: plugins.join(',') }),
      ...(back === true && { back: true }),
    };
    return [{ at: 'GET /clusters/:id/move', ask: { params, query } }];
  },
  'PUT /clusters/:id/attributes': ({ params, body }) => [
    { at: 'POST /clusters/:id/attributes/plan', ask: { params, body } },
  ],
  'PATCH /clusters/:id/attributes': ({ params, body }) => [
    { at: 'POST /clusters/:id/attributes/plan', ask: { params, body, query: { merge: true } } },
  ],
  'POST /clusters/:id/attributes/history/:number/revert': samePlace('GET /clusters/:id/attributes/history/:number'),
  'PUT /clusters/:id/changes/': samePlace('GET /clusters/:id/changes/'),
  'PUT /clusters/:id/changes/redeploy/': samePlace('GET /clusters/:id/changes/'),
  'POST /graphs/execute/': ({ body }) => {
    const { cluster, graphs } = fieldsOf(body);
    return (Array.isArray(graphs) ? graphs : []).map((graph): Preview => {
      const { type = 'default', nodes, tasks } = fieldsOf(graph);
      const listed = (all: unknown) => (Array.isArray(all) ? all.join(',') : undefined);
      const query = { graph_type: String(type), ...given({ nodes: listed(nodes), tasks: listed(tasks) }) };
      return { at: 'GET /clusters/:id/plan/', ask: { params: { id: String(cluster) }, query } };
    });
  },
  'POST /sites/:site/runs': ({ params, body }) => {
    const ref = String(fieldsOf(body).revision ?? 'latest');
    return [{ at: 'GET /sites/:site/revisions/:ref/difference', ask: { params: { ...params, ref } } }];
  },
};

/** The thing that a change is of: the longest path above it that can be read with these parameters. */
function currentState({ at }: Operation, { params }: OperationArguments): readonly Preview[] {
  const [, path = ''] = at.split(' ');
  const parts = path.replace(/\/$/, '').split('/');
  for (let end = parts.length; end > 1; end--) {
    const above = parts.slice(0, end).join('/');
    for (const one of [`GET ${above}`, `GET ${above}/`]) {
      const found = [...OPERATIONS.values()].find((operation) => operation.at === one);
      // What is to be changed is named: a list of everything is no plan.
      if (found !== undefined && above.includes(':')) return [{ at: found.at, ask: { params } }];
    }
  }
  return [];
}

/** A change that was shown, and what it will be compared with. */
export interface ShownPlan {
  readonly digest: string;
  readonly operation: Operation;
  readonly arguments: OperationArguments;
  readonly preview: readonly unknown[];
}

/** Asks the API what a change would do, without making it. */
export async function planChange(
  client: ApiClient,
  operation: Operation,
  asked: OperationArguments,
): Promise<ShownPlan> {
  checkPlace(operation, asked);
  const previews = PREVIEWS[operation.at]?.(asked) ?? currentState(operation, asked);
  const preview: unknown[] = [];
  for (const { at, ask } of previews) {
    const answer = await callOperation(client, operationAt(at), ask).catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      return { problem: error.problem };
    });
    preview.push({ [at]: answer });
  }
  const digest = createHash('sha256')
    .update(canonicalJson(withoutClock({ at: operation.at, asked, preview })))
    .digest('hex')
    .slice(0, 32);
  return { digest, operation, arguments: asked, preview };
}

/** Times of looking are no difference. */
function withoutClock(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutClock);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) =>
      key === 'checked_at' || key === 'seen_at' || one === undefined ? [] : [[key, withoutClock(one)]],
    ),
  );
}

/** Calls any operation; its answer is JSON where it is that, else text. */
export async function callOperation(
  client: ApiClient,
  operation: Operation,
  { params, query, body }: OperationArguments,
): Promise<unknown> {
  const { at } = operation;
  checkPlace(operation, { params });
  const text = await client.text(at as never, { params, query, body } as never);
  try {
    return text === '' ? null : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

/** @throws CliError naming the parts of the path that were not given */
function checkPlace({ at }: Operation, { params }: OperationArguments): void {
  const missing = [...at.matchAll(/:(\w+)/g)].map(([, name]) => name!).filter((name) => params?.[name] === undefined);
  if (missing.length > 0)
    throw usageError(`params lacks ${missing.join(', ')}`, `It is the ${missing.join(', ')} in ${at}.`);
}

/** The plans that were shown and not made yet: a change is made only once, soon, and as it was shown. */
export class ShownPlans {
  readonly #plans = new Map<string, { readonly plan: ShownPlan; readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  keep(plan: ShownPlan): void {
    this.#plans.set(plan.digest, { plan, at: this.#now() });
  }

  /** @throws CliError where it was not shown, or too long ago */
  take(digest: string): ShownPlan {
    const found = this.#plans.get(digest);
    this.#plans.delete(digest);
    if (found === undefined || this.#now() - found.at > KEPT_MS)
      throw new CliError(
        {
          code: 'no-such-plan',
          message: `no plan with the digest '${digest.slice(0, 64)}' was shown in the last ${KEPT_MS / 60_000} minutes`,
          hint: 'Call plan_change, show its plan to the user, then call make_change with its digest.',
        },
        EXIT.conflict,
      );
    return found.plan;
  }
}

const KEPT_MS = 10 * 60_000;
