import type { Run } from '../core/contracts/index.js';
import type { ApiClient } from './client.js';
import { EXIT } from './exit-codes.js';
import { CliError } from './problem.js';
import { subjectOf } from './run-subject.js';

/** Runs searched for a prefix of an id. */
const NEWEST = 1_000;

const FULL_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * The run a user means: by its id, a unique prefix of it, a workflow id (`deploy_site:dc1`: its
 * newest run), the transaction of a run of graphs, or the name of a site (its newest run). A workflow id may lack the
 * prefix of the installation (`temporal.prefix`).
 */
export async function findRun(client: ApiClient, reference: string): Promise<Run> {
  if (FULL_ID.test(reference)) return client.runs.get(reference);
  const [, prefix, transaction] = /^([a-z0-9-]+:)?(?:[a-z]+_[a-z_]+):(?:\d+:([1-9]\d{0,9})$)?/.exec(reference) ?? [];
  if (prefix !== undefined || reference.startsWith('execute_graph:')) {
    const [run] = await listed(client, { workflow_id: reference, limit: 1 });
    if (run) return run;
    if (prefix !== undefined || transaction === undefined) throw noSuchRun(reference);
    return ofTransaction(client, transaction);
  }
  if (/^[1-9]\d{0,9}$/.test(reference)) return ofTransaction(client, reference);
  const workflow = /^([a-z_]+):(.+)$/.exec(reference);
  if (workflow) {
    const [, kind = '', site = ''] = workflow;
    const [run] = await listed(client, { kind: [kind], site, limit: 1 });
    if (run) return run;
    throw noSuchRun(reference);
  }
  const [ofSite] = await listed(client, { site: reference, limit: 1 });
  if (ofSite) return ofSite;
  const found = (await listed(client, { limit: NEWEST })).filter(({ id }) => id.startsWith(reference));
  const [only] = found;
  if (found.length === 1 && only) return only;
  if (found.length > 1) {
    const ids = found.slice(0, 5).map((run) => `${run.id} (${run.kind} of ${subjectOf(run)})`);
    throw new CliError(
      {
        code: 'ambiguous-run',
        message: `${found.length} runs start with '${reference}': ${ids.join(', ')}`,
        hint: 'Use a longer prefix of the id.',
      },
      EXIT.invalid,
    );
  }
  // Older than the searched runs, or not in our form: ask the API.
  return client.runs.get(reference).catch((error: unknown) => {
    throw error instanceof CliError && error.exitCode === EXIT.notFound ? noSuchRun(reference) : error;
  });
}

/** A run of graphs by the id of its transaction, or of a transaction of one of its graphs. */
async function ofTransaction(client: ApiClient, id: string): Promise<Run> {
  const found = await client.call('GET /transactions/:id', { params: { id } }).catch(async (error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    if (error.exitCode === EXIT.notFound) throw noSuchRun(id);
    if (error.problem.code !== 'store-failed') throw error;
    // While the store is away, the API knows the newest runs from Temporal.
    const runs = await listed(client, { kind: ['execute_graph'], limit: NEWEST });
    const run = runs.find((one) => one.workflow_id.endsWith(`:${id}`));
    if (run === undefined) throw error;
    return run;
  });
  if ('kind' in found) return found;
  // Of a run, or of a graph of one.
  if (found.run !== null) return client.runs.get(found.run);
  if (found.parent_id === null) throw noSuchRun(id);
  return ofTransaction(client, String(found.parent_id));
}

async function listed(client: ApiClient, query: Parameters<ApiClient['runs']['list']>[0]) {
  try {
    return (await client.runs.list(query)).items;
  } catch (error) {
    // A site or kind that was never used has no runs.
    if (error instanceof CliError && (error.exitCode === EXIT.notFound || error.exitCode === EXIT.invalid)) return [];
    throw error;
  }
}

const noSuchRun = (reference: string): CliError =>
  new CliError(
    {
      code: 'not-found',
      message: `there is no run '${reference}'`,
      hint: "Use a run's id or a prefix of it, a workflow id, or a site's name. 'sitewright run list' shows runs.",
    },
    EXIT.notFound,
  );
