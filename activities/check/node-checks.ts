import { clusterOfSite } from '../../src/clusters/cluster-of-site.ts';
import { checksOfSite } from '../../src/clusters/package-checks.ts';
import { machinesOfSite } from '../../src/clusters/site-machines.ts';
import type { StoredLayer } from '../../src/clusters/sources.ts';
import type { Check } from '../../src/core/checks/check.ts';
import { askingScript, MISSING_ANSWERS } from '../../src/core/checks/script.ts';
import { given } from '../../src/core/data/given.ts';
import type { ChecksOnNodes, GraphRequest } from '../../src/core/graph-run/input.ts';
import { OUTPUT_CHARACTERS, type TaskEnd } from '../../src/core/graph-run/task-end.ts';
import { hasSystem } from '../../src/core/node-system.ts';
import { type RequestRefused, requestRefused } from '../../src/core/run/failure.ts';
import type { ResolvedNode, ResolvedSite } from '../../src/documents/index.ts';
import type { Store, TaskHistoryRow } from '../../src/store/index.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { SiteCache } from '../site/cache.ts';
import { questionOf } from './questions.ts';
import { subjectsOf } from './subjects.ts';

/** The graph of checks that share a run. It is stored nowhere: each plan makes it of the documents. */
export const CHECK_GRAPH = 'checks';

/** A check that nodes ask, as its transaction keeps it. */
interface AskedCheck {
  readonly check: string;
  /** Its task in `CHECK_GRAPH`; absent: the whole graph is the check. */
  readonly task?: string;
  /** By the id of the node that asks: the node, in the documents, that it asks about. */
  readonly about: Readonly<Record<string, string>>;
}

export interface CheckGraphRequest extends GraphRequest {
  readonly asked: readonly AskedCheck[];
}

type Requested =
  | { readonly ok: true; readonly graphs: readonly CheckGraphRequest[] }
  | { readonly ok: false; readonly failure: RequestRefused };

const refused = (message: string, hint: string): Requested => ({
  ok: false,
  failure: requestRefused('invalid', [
    { severity: 'error', code: 'check.not-on-nodes', message, hint, path: 'checks' },
  ]),
});

/** As `graphsOfChecks`, for a run of its own, which only the cluster of the site has. */
export const graphsOfCheckRun = async (
  store: Store,
  cache: SiteCache,
  checks: ChecksOnNodes,
  cluster: number,
): Promise<Requested> =>
  (await clusterOfSite(store, checks.site)) === cluster
    ? graphsOfChecks(store, cache, checks, cluster)
    : refused(`cluster ${cluster} is not that of site ${checks.site}`, `Ask with: sitewright check run ${checks.site}`);

/** The graphs in which nodes of a cluster ask checks. */
export async function graphsOfChecks(
  store: Store,
  cache: SiteCache,
  { site, revision, names, nodes }: ChecksOnNodes,
  cluster: number,
): Promise<Requested> {
  const { site: resolved } = await cache.load(site, { number: revision });
  const known = await checksOfSite(store, site, resolved?.checks, cluster);
  const checks = known.filter(({ name, from }) => names.includes(name) && from !== undefined);
  if (resolved === null || checks.length < names.length)
    return refused(
      `revision ${revision} of site ${site} lacks some of the checks ${names.join(', ')}, or workers ask them`,
      `See them with: sitewright site show ${site}`,
    );
  const { known: machines } = await machinesOfSite(store, site);
  const recordOf = (name: string) => machines.get(name)?.find(({ clusterId }) => clusterId === cluster);
  const subjects = new Set(nodes);
  const asks = ({ name }: ResolvedNode): boolean => {
    const record = recordOf(name);
    return record !== undefined && (subjects.has(name) || hasSystem(record));
  };
  const aboutOf = ({ from }: Check): Readonly<Record<string, string>> =>
    Object.fromEntries(
      nodes.flatMap((subject) => {
        const asker = from === 'neighbour' ? neighbourOf(resolved, subject, asks) : subject;
        const record = asker === undefined ? undefined : recordOf(asker);
        return record === undefined ? [] : [[String(record.id), subject]];
      }),
    );
  const graphs: CheckGraphRequest[] = checks.flatMap((check) =>
    check.probe.kind === 'graph'
      ? [{ type: check.probe.type, asked: [{ check: check.name, about: aboutOf(check) }] }]
      : [],
  );
  const together = checks
    .filter(({ probe }) => probe.kind !== 'graph')
    .map((check, at) => ({ check: check.name, task: `check-${at + 1}`, about: aboutOf(check) }));
  if (together.length > 0) graphs.unshift({ type: CHECK_GRAPH, asked: together });
  const withNodes = graphs
    .map((graph) => ({
      ...graph,
      nodes: [...new Set(graph.asked.flatMap(({ about }) => Object.keys(about).map(Number)))],
    }))
    .filter((graph) => graph.nodes.length > 0);
  return withNodes.length > 0
    ? { ok: true, graphs: withNodes }
    : refused(
        `no node that should ask is in cluster ${cluster}`,
        `Add the nodes of site ${site} to the cluster, or let a worker ask (from: worker).`,
      );
}

/** The next node of the same rack, in the order of the documents, that can ask: no node asks about two. */
function neighbourOf(
  { nodes }: ResolvedSite,
  subject: string,
  asks: (node: ResolvedNode) => boolean,
): string | undefined {
  const own = nodes.find(({ name }) => name === subject);
  if (own === undefined || own.rack === null) return undefined;
  const ring = nodes.filter((node) => node.rack === own.rack && (node === own || asks(node)));
  const next = ring[(ring.indexOf(own) + 1) % ring.length]!;
  return next === own ? undefined : next.name;
}

/** The tasks of the checks that share a run. */
export async function checkLayer(
  deps: ActivityDependencies,
  cache: SiteCache,
  { site, revision }: ChecksOnNodes,
  cluster: number,
  asked: readonly AskedCheck[],
  signal: AbortSignal | undefined,
): Promise<StoredLayer> {
  const { site: resolved } = await cache.load(site, { number: revision });
  const checks = await checksOfSite(deps.store, site, resolved?.checks, cluster);
  const tasks = await Promise.all(
    asked.map(async ({ check: name, task, about }) => {
      const check = checks.find((one) => one.name === name)!;
      const entries = Object.entries(about);
      const nodes = entries.map(([, subject]) => resolved!.nodes.find((node) => node.name === subject));
      const subjects = await subjectsOf(deps, site, check, nodes, signal);
      const scripts = entries.map(([uid], at) => [uid, askingScript(questionOf(check, subjects[at]!), check)] as const);
      return taskOf(task!, scripts, check);
    }),
  );
  return { layer: 'cluster', nodeFilter: null, onSuccess: {}, onError: {}, onStop: {}, tasks };
}

/** @param scripts by the id of the node that runs it */
function taskOf(id: string, scripts: readonly (readonly [uid: string, script: string])[], check: Check) {
  const { within, every, failures, timeout } = check;
  const different = new Set(scripts.map(([, script]) => script));
  const choice = scripts.map(([uid, script]) => `${literal(uid)} => ${literal(script)}`).join(', ');
  const [only] = different;
  const cmd = different.size === 1 ? literal(only!) : `{${choice}}.get(str($.uid))`;
  return {
    ...{ id, type: 'shell', version: '2.1.0', role: ['/.*/'], fail_on_error: false },
    condition: { yaql_exp: `str($.uid) in [${scripts.map(([uid]) => literal(uid)).join(', ')}]` },
    parameters: {
      // An expression: in other texts, names in braces are replaced.
      cmd: { yaql_exp: cmd },
      retries: Math.min(MOST_TRIES, failures - 1 + Math.ceil(within / Math.max(1, every))),
      interval: every,
      timeout: within + (failures + 1) * (every + timeout) + SLACK_SECONDS,
    },
  };
}

const MOST_TRIES = 1_000;
const SLACK_SECONDS = 10;

/** A text in an expression. */
const literal = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}'`;

export interface NodeAnswer {
  readonly verdict: 'well' | 'failed' | 'unknown';
  readonly text: string;
  /** The end of what the node wrote. */
  readonly output?: string;
  readonly at: number;
  readonly ms: number;
}

/** What a node found, by the tasks that ran there for a check. @param why what is said where nothing did */
export function answerOf(check: Check, rows: readonly TaskHistoryRow[], why: string, now: number): NodeAnswer {
  const [worst] = rows.toSorted((a, b) => rankOf(check, b) - rankOf(check, a));
  if (worst === undefined) return { verdict: 'unknown', text: why, at: now, ms: 0 };
  const verdict = VERDICTS[rankOf(check, worst)]!;
  const at = Math.max(...rows.map(({ timeEnd }) => (timeEnd === null ? 0 : Date.parse(timeEnd)))) || now;
  const ms = rows.reduce((sum, row) => sum + lasted(row), 0);
  const where = check.probe.kind === 'graph' && verdict !== 'well' ? `${worst.task}: ` : '';
  const output = ((worst.summary ?? {}) as Partial<TaskEnd>).output?.slice(-OUTPUT_CHARACTERS);
  const text = `${where}${worst.message ?? worst.status}`;
  const isOwn = check.probe.kind === 'command' || check.probe.kind === 'graph';
  return { verdict, text, ...(isOwn && given({ output })), at, ms };
}

const lasted = ({ timeStart, timeEnd }: TaskHistoryRow): number =>
  timeStart === null || timeEnd === null ? 0 : Math.max(0, Date.parse(timeEnd) - Date.parse(timeStart));

const VERDICTS = ['well', 'unknown', 'failed'] as const;

/** Failures that say nothing of what was asked. */
const NO_ANSWERS: readonly TaskEnd['failure_kind'][] = [
  'offline',
  'busy',
  'timeout',
  'interrupted',
  'no-space',
  'defect',
];

/** The place in `VERDICTS`. */
function rankOf({ probe }: Check, { status, summary }: TaskHistoryRow): number {
  if (status === 'success') return 0;
  // Nothing to do there, or nothing that the graph minds.
  if (probe.kind === 'graph' && (status === 'skipped' || status === 'ignored')) return 0;
  const { outcome, failure_kind, exit_code } = (summary ?? {}) as Partial<TaskEnd>;
  if (outcome !== 'failed' || NO_ANSWERS.includes(failure_kind)) return 1;
  return exit_code !== undefined && MISSING_ANSWERS[probe.kind].includes(exit_code) ? 1 : 2;
}
