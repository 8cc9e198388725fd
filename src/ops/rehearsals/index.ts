import { agentAddress, MAAS_CALLS, MASTER_AGENT } from '../../clusters/agent-address.ts';
import { clusterOfSite } from '../../clusters/cluster-of-site.ts';
import { readClusterSources } from '../../clusters/read-sources.ts';
import { requestedGraphs } from '../../clusters/requested-graphs.ts';
import { uidOf } from '../../clusters/sources.ts';
import type { Rehearsal, SiteRehearsalBody } from '../../core/contracts/rehearsals.ts';
import { given } from '../../core/data/given.ts';
import { isMapping } from '../../core/data/plain-value.ts';
import { explainGraphRunFailure, type GraphRunFailure } from '../../core/graph-run/failure.ts';
import { type GraphRunInput, parseGraphRunInput } from '../../core/graph-run/input.ts';
import { stepTimeText } from '../../core/run/late-text.ts';
import { explainRunFailure, type RunFailure } from '../../core/site-run/failure.ts';
import { parseSiteRunInput, type SiteRunInput } from '../../core/site-run/input.ts';
import { findTaskType } from '../../core/task-types/index.ts';
import { unknownName } from '../../core/text/did-you-mean.ts';
import type { SiteRunKind } from '../../core/words.ts';
import type { ResolvedNode } from '../../documents/index.ts';
import type { GraphTask } from '../../graph/index.ts';
import { StepTimes } from '../../runs/step-times.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { clusterTasks } from '../graphs/cluster-tasks.ts';
import type { DeploymentOperations } from '../graphs/deployments.ts';
import { invalidInput, problem } from '../problem.ts';
import { refusalOf } from '../refusal.ts';
import { Service } from '../service.ts';
import { SiteOperations } from '../sites.ts';
import { durationsOf, limitsOf } from './durations.ts';
import { rehearsedMachines } from './machines.ts';
import type { RehearsalOrder, RehearsedFaults, RehearsedRun } from './order.ts';

/** What people ask to go wrong. */
export type AskedFaults = Pick<SiteRehearsalBody, 'fail_nodes' | 'fail_tasks' | 'maas_away'>;

/** What it takes for an outage: in the middle of something. */
const AWAY_AFTER = 60;
/** So many may wait for the one that is under way. */
const MAX_WAITING = 4;

interface Subject {
  readonly run: RehearsedRun;
  readonly site: string | null;
  readonly revision?: number;
  readonly nodes: readonly ResolvedNode[];
  readonly cluster: number | null;
  /** Of a site's run: within them is what no earlier run tells. */
  readonly limits?: ReturnType<typeof limitsOf>;
  /** Types of graphs that the run surely has. */
  readonly types: readonly string[];
}

/** Rehearsals of runs: they read, and change nothing. */
export class RehearsalOperations extends Service {
  readonly #sites = new SiteOperations(this.deps);
  readonly #deployments: DeploymentOperations;
  #underWay = 0;

  constructor(deps: OpsDependencies, deployments: DeploymentOperations) {
    super(deps);
    this.#deployments = deployments;
  }

  /** A run on a site. @throws `invalid`, `not-found`, `refused` as a start of it would */
  site(kind: SiteRunKind, input: SiteRunInput, faults: AskedFaults, signal?: AbortSignal): Promise<Rehearsal> {
    return this.#inTurn(async () => {
      const { site: name } = input;
      const { lastGoodRevision } = await this.store.sites.get(name);
      const parsed = parseSiteRunInput(kind, [input]);
      if (!parsed.ok) throw invalidInput(parsed.problems);
      if (input.fetch)
        throw problem('invalid', 'a rehearsal fetches no documents: what it fetched would be a revision', {
          hint: 'Leave out --fetch (`fetch`): it rehearses the latest revision. Commit other documents first.',
        });
      const { record, site } = await this.#sites.documents(name, String(input.revision ?? 'latest'));
      const before = await this.#nodesBefore(name, lastGoodRevision);
      const nodes = [...site.nodes, ...before.filter((one) => !site.nodes.some((now) => now.name === one.name))];
      const cluster = (await clusterOfSite(this.store, name)) ?? null;
      const run = { kind, input: { ...input, revision: record.number } };
      const limits = limitsOf(site.configuration, nodes.length);
      const subject = { run, site: name, revision: record.number, nodes, cluster, limits, types: ['default'] };
      return this.#live(subject, faults, signal);
    });
  }
  /** Graphs of a cluster; without any, those of Deploy changes. @throws as `site` */
  cluster(asked: GraphRunInput, faults: AskedFaults, signal?: AbortSignal): Promise<Rehearsal> {
    return this.#inTurn(async () => {
      const input = await this.#withGraphs(asked);
      const parsed = parseGraphRunInput([input]);
      if (!parsed.ok) throw invalidInput(parsed.problems);
      const { cluster } = input;
      const chosen = await requestedGraphs(this.store, input, await readClusterSources(this.store, cluster));
      // What is refused here, the run itself refuses.
      const types = chosen.ok ? chosen.graphs.map(({ type }) => type) : [];
      return this.#live(
        { run: { kind: 'execute_graph', input }, site: null, nodes: [], cluster, types },
        faults,
        signal,
      );
    });
  }

  async #live(subject: Subject, faults: AskedFaults, signal: AbortSignal | undefined): Promise<Rehearsal> {
    const { rehearser } = this.deps;
    if (rehearser === undefined) throw new Error('this process rehearses nothing');
    const { run, site, cluster, nodes, revision } = subject;
    const agents = cluster === null ? [] : await this.#agentsOf(cluster);
    const wanted = await this.#faultsOf(subject, faults, agents);
    const { durations, told: times } = await durationsOf(this.store, {
      site,
      cluster,
      ...given({ limits: subject.limits }),
    });
    const { told, ...machines } =
      site === null
        ? { machines: [], networks: [], images: [], told: [] }
        : await rehearsedMachines(this.deps, site, nodes);
    const copied = {
      ...given({ revision }),
      ...(site === null ? {} : { site }),
      ...(cluster === null ? {} : { cluster }),
      ...(run.kind === 'execute_graph' ? given({ from: run.input.from }) : {}),
    };
    const copy = await this.store.copies.of(copied);
    const answer = await rehearser.rehearse({ run, copy, ...machines, agents, durations, faults: wanted }, signal);
    if (answer.kind === 'refused') throw await this.#refused(run, answer.failure);
    const learned =
      site === null
        ? []
        : await new StepTimes(this.store).of(
            site,
            nodes.map(({ name }) => name),
          );
    const usual = learned.map((one) => `${stepTimeText(one)}.`);
    return { ...answer.rehearsal, assumptions: [...told, ...times, ...usual, ...grantedTo(subject)] };
  }

  #refused(run: RehearsedRun, failure: RunFailure | GraphRunFailure) {
    return run.kind === 'execute_graph'
      ? refusalOf(
          this.deps,
          failure,
          explainGraphRunFailure(failure as GraphRunFailure, run.input.cluster, null),
          run.input.cluster,
        )
      : refusalOf(
          this.deps,
          failure,
          explainRunFailure(failure as RunFailure, { kind: run.kind, site: run.input.site, left: [] }),
        );
  }

  /** All nodes of a cluster with `master`, and what MAAS does for them. */
  async #agentsOf(cluster: number): Promise<RehearsalOrder['agents']> {
    const sources = await readClusterSources(this.store, cluster);
    const nodes = sources.nodes.map((node) => ({
      ...agentAddress(sources, node),
      uid: uidOf(node),
      shown: node.name ?? uidOf(node),
    }));
    const others = [MASTER_AGENT, MAAS_CALLS];
    return [...nodes, ...others.map((one) => ({ ...one, uid: one.node, shown: one.node }))];
  }

  /** @throws `invalid` for names that the run does not have */
  async #faultsOf(
    { nodes, cluster, types }: Subject,
    { fail_nodes = [], fail_tasks = [], maas_away = [] }: AskedFaults,
    agents: RehearsalOrder['agents'],
  ): Promise<RehearsedFaults> {
    const problems: string[] = [];
    const unknown = (kind: string, name: string, known: readonly string[]): void => {
      problems.push(unknownName(kind, name, known));
    };
    const deployed = nodes.map(({ name }) => name);
    const failDeployment = fail_nodes.flatMap((name) => {
      const node = nodes.find((one) => one.name === name || one.hostname === name);
      if (node === undefined) unknown('node', name, deployed);
      return node?.hostname ?? [];
    });
    const tasks =
      cluster === null || fail_tasks.length === 0
        ? []
        : (await Promise.all(types.map((type) => clusterTasks(this.store, cluster, type, 'merged')))).flat();
    const names = [...new Set(tasks.map(({ id }) => id))];
    const served = agents.map(({ shown }) => shown);
    const failTasks = fail_tasks.map(({ task, node }) => {
      if (!names.includes(task)) unknown('task', task, names);
      const tried = triesOf(tasks.find(({ id }) => id === task));
      if (node === undefined) return { task, ...tried };
      const agent = agents.find((one) => one.shown === node || one.uid === node || one.node === node);
      if (agent === undefined) unknown('node', node, served);
      return { task, node: agent?.uid ?? node, ...tried };
    });
    if (problems.length > 0)
      throw problem('invalid', problems.join('; '), { hint: 'Name nodes and tasks of the run.' });
    return {
      failDeployment,
      failTasks,
      maasAway: maas_away.map(({ seconds, after = AWAY_AFTER }) => ({ seconds, after })),
    };
  }

  /** Those of the last good revision: an update releases what is no longer in the documents. */
  async #nodesBefore(site: string, lastGood: number | null): Promise<readonly ResolvedNode[]> {
    return lastGood === null ? [] : (await this.#sites.documents(site, 'last-good')).site.nodes;
  }

  /** Without a choice of its own: what Deploy changes would run. */
  async #withGraphs(input: GraphRunInput): Promise<GraphRunInput> {
    if (input.graphs !== undefined || input.sequence !== undefined || input.from !== undefined) return input;
    const { sequence, graphs } = await this.#deployments.changes(input.cluster);
    return sequence === null
      ? { ...input, graphs: graphs.map((type) => ({ type })) }
      : { ...input, sequence: sequence.id };
  }

  /** One at a time lives; a few may wait. */
  async #inTurn(work: () => Promise<Rehearsal>): Promise<Rehearsal> {
    if (this.#underWay > MAX_WAITING)
      throw problem('conflict', `${this.#underWay} rehearsals are under way`, { hint: 'Try again in a minute.' });
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
    }
  }
}

const parametersOf = ({ parameters }: GraphTask): Readonly<Record<string, unknown>> =>
  isMapping(parameters) ? parameters : {};

/** How often a node tries a task before it fails, and the seconds between, as far as its definition tells. */
function triesOf(task: GraphTask | undefined) {
  const limits = task && findTaskType(String(task.type))?.prepare(parametersOf(task), { node: '' }).limits;
  return { tries: (limits?.retries ?? 0) + 1, pause: limits?.intervalSec ?? 0 };
}

/** What becomes of a run that waits for people, and of its tasks: nobody knows. */
function grantedTo({ cluster, run: { input } }: Subject): string[] {
  return [
    ...(cluster === null
      ? []
      : ['Agents of all nodes are there, and each task ends as it should, unless you say that it fails.']),
    ...(input.hold_before === undefined ? [] : ['Whatever waits for approval is approved at once.']),
    ...('hold_on_failure' in input && input.hold_on_failure
      ? ['A graph that is held by failed tasks is stopped: nobody retries or skips them.']
      : []),
  ];
}
