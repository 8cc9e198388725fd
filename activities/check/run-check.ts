import { machinesNamed } from '@sitewright/maas';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { judgeAnswer } from '../../src/core/checks/answers.ts';
import { type Check, textsOf } from '../../src/core/checks/check.ts';
import { type CheckVerdict, judgeCheck, type Sample } from '../../src/core/checks/judge.ts';
import type { Unwell } from '../../src/core/checks/wave-checks.ts';
import { printable } from '../../src/core/text/control-characters.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';
import type { RunCheck, RunCheckAnswer, SiteActivities } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { proveClaim } from '../fencing.ts';
import { withHeartbeats } from '../heartbeats.ts';
import type { SiteCache } from '../site-cache.ts';
import { type AskHost, hostAsker } from './ask-host.ts';
import { type CheckSubject, questionOf } from './questions.ts';

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
        await proveClaim(deps, { site }, run_id);
        const { site: resolved } = await cache.load(site, { number: revision });
        const check = resolved?.checks?.find((one) => one.name === name);
        if (resolved === null || check === undefined)
          throw ApplicationFailure.nonRetryable(`revision ${revision} has no check ${name}`, 'CheckNotFound');
        const nodes = names?.map((one) => resolved.nodes.find((node) => node.name === one));
        const subjects = await subjectsOf(deps, request, check, nodes, signal);
        const answers = await inTurn(subjects, AT_ONCE, (subject) => verdictOf(check, subject, ask, signal));
        await keep(deps, request, answers, {
          checks: resolved.checks!.map((one) => one.name),
          nodes: resolved.nodes.map((one) => one.name),
        });
        return summed(answers, names !== undefined);
      }),
  };
}

/** Keeps each answer, for whoever asks later. */
async function keep(
  deps: ActivityDependencies,
  { site, run_id, check, nodes }: RunCheck,
  answers: readonly Answered[],
  known: { readonly checks: readonly string[]; readonly nodes: readonly string[] },
): Promise<void> {
  await proveClaim(deps, { site }, run_id);
  const results = answers.map(({ verdict, text, at, ms }, index) => ({
    ...{ node: nodes?.[index] ?? '', runId: run_id, verdict, text: printable(text).slice(0, LONGEST_KEPT) },
    ...{ output: null, at: new Date(at).toISOString(), ms },
  }));
  await deps.store.checkResults.add(site, check, results, known);
}

/** One subject a node, or one for all. */
async function subjectsOf(
  deps: ActivityDependencies,
  { site }: RunCheck,
  check: Check,
  nodes: readonly (ResolvedNode | undefined)[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly CheckSubject[]> {
  if (nodes === undefined) return [{ site: { name: site } }];
  const readsAddress = Object.values(textsOf(check.probe)).some(
    (text) => typeof text !== 'string' && text.yaql_exp.includes('address'),
  );
  const addresses = readsAddress ? await addressesOf(deps, site, nodes, signal) : new Map<string, string>();
  return nodes.map((node) => ({
    site: { name: site },
    ...(node && {
      node: {
        name: node.name,
        address: addresses.get(node.name) ?? null,
        ...{ rack: node.rack, tags: node.tags, labels: node.labels },
      },
    }),
  }));
}

/** The addresses of machines, as MAAS has them. */
async function addressesOf(
  { maas: maasOf, store }: ActivityDependencies,
  site: string,
  nodes: readonly (ResolvedNode | undefined)[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const maas = maasOf();
  const known = new Map((await store.deployedMachines.list(site)).map((machine) => [machine.node, machine]));
  const found = await Promise.all(
    nodes.map(async (node) => {
      if (node === undefined) return [];
      const machines = await machinesNamed(maas, node.name, known.get(node.name), signal);
      const [address] = machines.length === 1 ? machines[0]!.ipAddresses : [];
      return address === undefined ? [] : [[node.name, address] as const];
    }),
  );
  return new Map(found.flat());
}

interface Answered {
  readonly verdict: CheckVerdict;
  readonly text: string;
  /** When it came, in milliseconds. */
  readonly at: number;
  /** Since the first question. */
  readonly ms: number;
}

/** Asks until there is a verdict. */
async function verdictOf(
  check: Check,
  subject: CheckSubject,
  ask: AskHost,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  const question = questionOf(check, subject);
  const since = Date.now();
  // Nothing that is asked again would change it.
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
function summed(answers: readonly Answered[], areNodes: boolean): RunCheckAnswer {
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
