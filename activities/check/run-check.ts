import { ApplicationFailure, Context } from '@temporalio/activity';
import { checksOfSite } from '../../src/clusters/package-checks.ts';
import { judgeAnswer } from '../../src/core/checks/answers.ts';
import type { Check } from '../../src/core/checks/check.ts';
import { judgeCheck, type Sample } from '../../src/core/checks/judge.ts';
import type { Unwell } from '../../src/core/checks/wave-checks.ts';
import { together } from '../../src/core/data/together.ts';
import type { RunSubject } from '../../src/core/run/subject.ts';
import { printable } from '../../src/core/text/control-characters.ts';
import type { RunCheck, RunCheckAnswer, SiteActivities } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { proveClaim } from '../run/fencing.ts';
import { withHeartbeats } from '../run/heartbeats.ts';
import type { SiteCache } from '../site/cache.ts';
import { type AskHost, hostAsker } from './ask-host.ts';
import { answerOf, type CheckGraphRequest, type NodeAnswer } from './node-checks.ts';
import { type CheckSubject, questionOf } from './questions.ts';
import { subjectsOf } from './subjects.ts';

/** So many nodes are asked at the same time. */
const AT_ONCE = 20;

/** A verdict has one line, and its run many. */
const LONGEST_TEXT = 100;

/** Of an answer in the store. */
const LONGEST_KEPT = 500;

/** So many different answers are told apart in the result of the activity, which stays below a kilobyte. */
const MOST_ANSWERS = 3;

export function checkActivities(deps: ActivityDependencies, cache: SiteCache): Pick<SiteActivities, 'run_check'> {
  const ask = deps.askHost ?? hostAsker([]);
  return {
    run_check: (request) =>
      withHeartbeats(deps, async ({ signal }) => {
        const { site, run_id, revision, check: name, nodes: names } = request;
        await proveClaim(deps, subjectOf(request), run_id);
        const { site: resolved } = await cache.load(site, { number: revision });
        const checks = await checksOfSite(deps.store, site, resolved?.checks, request.cluster);
        const check = checks.find((one) => one.name === name);
        if (resolved === null || check === undefined)
          throw ApplicationFailure.nonRetryable(`revision ${revision} has no check ${name}`, 'CheckNotFound');
        const nodes = names?.map((one) => resolved.nodes.find((node) => node.name === one));
        const { ran } = request;
        const answers =
          ran === undefined
            ? await inTurn(await subjectsOf(deps, site, check, nodes, signal), AT_ONCE, (subject) =>
                verdictOf(check, subject, ask, signal),
              )
            : await answersOfNodes(deps, check, names ?? [], ran);
        await keep(deps, request, answers, {
          checks: checks.map((one) => one.name),
          nodes: resolved.nodes.map((one) => one.name),
        });
        return summed(answers, names !== undefined);
      }),
  };
}

/** What the run that asks has claimed. */
const subjectOf = ({ site, cluster }: RunCheck): RunSubject => (cluster === undefined ? { site } : { cluster });

/** What nodes have found in a run of graphs. */
async function answersOfNodes(
  { store }: ActivityDependencies,
  check: Check,
  names: readonly string[],
  ran: NonNullable<RunCheck['ran']>,
): Promise<readonly NodeAnswer[]> {
  const found = await store.transactions.findRun(ran.workflow_id, ran.run_id);
  if (found === null) throw ApplicationFailure.nonRetryable('the run that asks was refused', 'CheckNotFound');
  const run = await store.runs.get(ran.run_id);
  const ofRun = ran.graphs === undefined ? found.graphs : found.asking.filter(({ id }) => ran.graphs!.includes(id));
  const graphs = ofRun.flatMap(({ id, input }) =>
    ((input ?? {}) as unknown as CheckGraphRequest).asked.flatMap((asked) =>
      asked.check === check.name ? [{ id, asked }] : [],
    ),
  );
  const [graph] = graphs;
  const { about = {}, task } = graph?.asked ?? {};
  const idOf = new Map(Object.entries(about).map(([id, node]) => [node, id]));
  const rows =
    graph === undefined
      ? []
      : await store.taskHistory.list(graph.id, {
          nodes: [...idOf.values()],
          ...(task !== undefined && { tasks: [task] }),
        });
  const byNode = together(rows, ({ node }) => node);
  const now = Date.now();
  return names.map((name) => {
    const id = idOf.get(name);
    const why = id === undefined ? NO_ASKER[check.from ?? 'node'] : (run.failure ?? 'nothing of the check ran there');
    return answerOf(check, byNode.get(id ?? '') ?? [], why, now);
  });
}

const NO_ASKER = {
  node: 'it is not in the cluster of the site',
  neighbour: 'no other node of its rack can ask',
} as const;

/** Keeps each answer, for whoever asks later. */
async function keep(
  deps: ActivityDependencies,
  request: RunCheck,
  answers: readonly NodeAnswer[],
  known: { readonly checks: readonly string[]; readonly nodes: readonly string[] },
): Promise<void> {
  const { site, run_id, check, nodes } = request;
  await proveClaim(deps, subjectOf(request), run_id);
  const results = answers.map(({ verdict, text, output = null, at, ms }, index) => ({
    ...{ node: nodes?.[index] ?? '', runId: run_id, verdict, text: printable(text).slice(0, LONGEST_KEPT) },
    ...{ output, at: new Date(at).toISOString(), ms },
  }));
  await deps.store.checkResults.add(site, check, results, known);
}

/** Asks until there is a verdict. */
async function verdictOf(
  check: Check,
  subject: CheckSubject,
  ask: AskHost,
  signal: AbortSignal | undefined,
): Promise<NodeAnswer> {
  const question = questionOf(check, subject);
  const since = Date.now();
  // Nothing that is asked again would change it.
  if (question.kind === 'command') return { verdict: 'unknown', text: 'only nodes can ask it', at: since, ms: 0 };
  if (question.kind === 'unknown') return { verdict: 'unknown', text: question.why, at: since, ms: 0 };
  const samples: Sample[] = [];
  for (;;) {
    const judged = judgeCheck(check, samples, since, Date.now());
    if ('verdict' in judged) return { ...judged, at: Date.now(), ms: Math.round(Date.now() - since) };
    const wait = judged.again - Date.now();
    if (wait > 0) await Context.current().sleep(wait);
    const answer = await ask(question, check.timeout * 1000, signal);
    samples.push({ at: Date.now(), ...judgeAnswer(question, answer) });
  }
}

async function inTurn<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  return results;
}

/** Nodes with the same answer are told together; further answers than the first few as one. */
function summed(answers: readonly NodeAnswer[], areNodes: boolean): RunCheckAnswer {
  const groups = new Map<string, { verdict: Unwell; text: string; nodes: number[] }>();
  for (const [at, { verdict, text }] of answers.entries()) {
    if (verdict === 'well') continue;
    const line = printable(text).slice(0, LONGEST_TEXT);
    const isNew = !groups.has(`${verdict} ${line}`);
    const shown = isNew && groups.size >= MOST_ANSWERS ? 'other answers' : line;
    const key = `${verdict} ${shown}`;
    const group = groups.get(key) ?? { verdict, text: shown, nodes: [] };
    if (areNodes) group.nodes.push(at);
    groups.set(key, group);
  }
  return { unwell: [...groups.values()] };
}
