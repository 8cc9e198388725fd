import type { Run } from '../../core/contracts/runs.ts';
import { numberOf, subjectOf } from '../../core/run/subject.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { ApiClient } from '../shell/client.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError } from '../shell/problem.ts';

/** Runs searched for a prefix of an id. */
const NEWEST = 1_000;

const FULL_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A beginning of an id that is worth searching for: a site may be called `web`, no id begins so. */
const START_OF_ID = /^[0-9a-f][0-9a-f-]{3,35}$/i;

/**
 * The run a user means: by its id, its number, its workflow id, whoever chose it (the newest run with it), the name of a site or
 * of a cluster (its newest run), or a unique prefix of its id. A workflow id may lack the prefix of the
 * installation (`temporal.prefix`). A reference that means two runs is refused: a look-alike must not stop another site's run.
 */
export async function findRun(client: ApiClient, reference: string): Promise<Run> {
  if (FULL_ID.test(reference)) return client.runs.get(reference);
  if (/^[1-9]\d{0,9}$/.test(reference)) {
    const [numbered] = await listed(client, { number: Number(reference), limit: 1 });
    if (numbered !== undefined) return numbered;
    throw await noSuchNumber(client, reference);
  }
  const [ofWorkflow, ofSite, byId] = await Promise.all([
    listed(client, { workflow_id: reference, limit: 1 }),
    reference.includes(':') ? [] : listed(client, { site: reference, limit: 1 }),
    START_OF_ID.test(reference) ? listed(client, { limit: NEWEST }) : [],
  ]);
  const named = [...ofWorkflow, ...ofSite, ...byId.filter(({ id }) => id.startsWith(reference))];
  const found = [...new Map(named.map((run) => [run.id, run])).values()];
  const [only] = found;
  if (found.length === 1 && only) return only;
  if (found.length > 1) throw ambiguous(reference, found);
  const [ofCluster] = reference.includes(':') ? [] : await listed(client, { cluster: reference, limit: 1 });
  if (ofCluster !== undefined) return ofCluster;
  // Older than the searched runs, or not in our form: ask the API.
  return client.runs.get(reference).catch(async (error: unknown) => {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error;
    const sites = await client.sites.list().catch(() => ({ items: [] }));
    throw noSuchRun(
      reference,
      didYouMean(
        reference,
        sites.items.map(({ name }) => name),
      ),
    );
  });
}

function ambiguous(reference: string, found: readonly Run[]): CliError {
  const runs = found
    .slice(0, 5)
    .map((run) => `${numberOf(run)} (${run.workflow_id}, ${run.kind} of ${subjectOf(run)})`);
  return new CliError(
    {
      code: 'ambiguous-run',
      message: `'${reference}' matches ${found.length} runs: ${runs.join(', ')}`,
      hint: 'Use the number of one of them.',
    },
    EXIT.invalid,
  );
}

/** A run has one number. That of a graph within it leads to its tasks, and here to the run that is meant. */
async function noSuchNumber(client: ApiClient, number: string): Promise<CliError> {
  const graph = await client.call('GET /transactions/:id', { params: { id: number } }).catch((error: unknown) => {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return null;
    throw error;
  });
  if (graph?.parent_id == null) return noSuchRun(number);
  return noSuchRun(
    number,
    `${number} is the transaction of a graph of run ${graph.parent_id}: 'sitewright history show ${number}' shows its tasks, 'sitewright run show ${graph.parent_id}' the run.`,
  );
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

const HOW_RUNS_ARE_NAMED =
  "Use a run's number, its id or a prefix of it, a workflow id, or the name of a site or cluster. 'sitewright run list' shows runs.";

const noSuchRun = (reference: string, hint = HOW_RUNS_ARE_NAMED): CliError =>
  new CliError({ code: 'not-found', message: `there is no run '${reference}'`, hint }, EXIT.notFound);
