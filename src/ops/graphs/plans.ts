import { documentsForRollouts } from '../../clusters/newest-documents.ts';
import { type NodeLeftOut, requestedInMaintenance } from '../../clusters/node-choice.ts';
import type { ClusterPlanRequest } from '../../clusters/plan-cluster.ts';
import { type PlanForm, type PlanForms, plannerHere } from '../../clusters/planning/index.ts';
import { readGraphLayers } from '../../clusters/read-sources.ts';
import type { PlanExplanation } from '../../core/contracts/fuel/plan-explanation.ts';
import { given } from '../../core/data/given.ts';
import { valueAt } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { DrawOptions, GraphProblem } from '../../graph/index.ts';
import { type RevisionReference, unlessNotFound } from '../../store/index.ts';
import { missingAgents } from '../agent-presence.ts';
import { type Problem, problem } from '../problem.ts';
import { Service } from '../service.ts';
import { readSources } from '../tags/read-sources.ts';
import { checkClusterNodes } from './cluster-nodes.ts';
import { clusterTasks } from './cluster-tasks.ts';
import { drawingOf } from './graph-drawing.ts';

interface PlanRequest extends Pick<ClusterPlanRequest, 'type' | 'nodes' | 'tasks' | 'missed' | 'subgraphs'> {
  /** Treat everything as changed. */
  readonly force?: boolean;
}

/** The plan of a run started now, with reasons. */
interface ClusterPlanView extends PlanExplanation {
  readonly cluster: number;
  readonly type: string;
  /** Nodes of the cluster that the run leaves out. */
  readonly left_out: readonly NodeLeftOut[];
  readonly warnings: readonly Diagnostic[];
}

/** Plans a cluster's graphs as a run would now, without storing anything. @throws `invalid`, `not-found` */
export class PlanOperations extends Service {
  readonly #revision = (site: string, at: RevisionReference) =>
    this.store.sites.resolvedRevision(site, at).catch(unlessNotFound);
  readonly #planner = this.deps.planner ?? plannerHere();

  async explain(cluster: number, request: PlanRequest): Promise<ClusterPlanView> {
    const plan = await this.#needed('explanation', cluster, request);
    const missing = await missingAgents(
      this.deps,
      cluster,
      plan.nodes.map(({ node }) => Number(node)).filter(Number.isInteger),
    );
    return { cluster, type: request.type, ...plan, warnings: [...plan.warnings, ...missing] };
  }
  /** The same as text for people. */
  text(cluster: number, request: PlanRequest): Promise<string> {
    return this.#needed('text', cluster, request);
  }
  /** Every task on every node in Graphviz format. */
  dot(cluster: number, request: PlanRequest): Promise<string> {
    return this.#needed('dot', cluster, request);
  }
  /**
   * JSON text of the plan in the form for Fuel's executors, merged with `extra`. Without tasks the plan is empty.
   * Without nodes it covers all that stay in the cluster, even those that a run would leave out.
   */
  async serialized(cluster: number, request: PlanRequest, extra: Readonly<Record<string, boolean>>): Promise<string> {
    const text = await this.#planned('serialized', cluster, {
      ...request,
      nodes: request.nodes ?? (await this.#everyNode(cluster)),
    });
    if (text === null) {
      const empty = {
        tasks_directory: {},
        tasks_graph: { null: [] },
        tasks_metadata: { fault_tolerance_groups: [] },
      };
      return JSON.stringify({ ...extra, ...empty });
    }
    const before = Object.keys(extra).length === 0 ? '{' : `${JSON.stringify(extra).slice(0, -1)},`;
    return `${before}${text.slice(1)}`;
  }
  /** The merged graph of definitions in Graphviz or Mermaid format. */
  async draw(cluster: number, type: string, options: DrawOptions): Promise<string> {
    return this.reader.drawing(drawingOf(await clusterTasks(this.store, cluster, type, 'merged'), options));
  }

  async #planned<Form extends PlanForm>(
    form: Form,
    cluster: number,
    request: PlanRequest,
  ): Promise<PlanForms[Form] | null> {
    const { force, ...wanted } = request;
    const sources = await readSources(this.deps, cluster);
    await checkClusterNodes(this.store, cluster, wanted.nodes);
    const [kept, ...more] = requestedInMaintenance(sources, wanted.nodes ?? [], 'nodes');
    if (kept !== undefined)
      throw problem('conflict', [kept, ...more].map(({ message }) => message).join('; '), {
        hint: kept.hint!,
        errors: [kept, ...more],
      });
    const layers = await readGraphLayers(this.store, sources, wanted.type);
    const { checks, racks } = await documentsForRollouts(this.#revision, sources);
    const result = await this.#planner.plan(form, {
      sources,
      layers,
      request,
      ...(force && !wanted.missed ? {} : { states: await this.store.taskStates.read(cluster) }),
      surroundings: given({ masterIp: this.deps.masterIp }),
      ...given({ checks: checks?.checks, racks, masterAllowed: this.deps.masterAllowed }),
    });
    if (result.ok) return result.value;
    if (result.reason === 'no-graph') return null;
    throw refusal(result.problems, request);
  }

  async #needed<Form extends PlanForm>(form: Form, cluster: number, request: PlanRequest): Promise<PlanForms[Form]> {
    const plan = await this.#planned(form, cluster, request);
    if (plan !== null) return plan;
    const types = await this.store.graphs.typesOf(cluster);
    throw problem('not-found', `There are no deployment tasks for graph type '${request.type}'.`, {
      hint:
        types.length === 0
          ? 'Upload a graph.'
          : `${didYouMean(request.type, types) ?? ''} Known types: ${types.join(', ')}.`.trim(),
    });
  }

  /** The nodes for Fuel's executors: all that a graph applies to, regardless of its node filter, and none in maintenance. */
  async #everyNode(cluster: number): Promise<readonly number[]> {
    const { nodes } = await readSources(this.deps, cluster);
    return nodes.flatMap(({ id, maintenance }) => (maintenance === undefined ? id : []));
  }
}

const SHOWN = 10;

function refusal(problems: readonly GraphProblem[], request: PlanRequest) {
  const found = problems.map(({ at: _, ...one }): Diagnostic => one);
  const errors = found.filter(({ severity }) => severity === 'error');
  const selection = problems.filter(({ severity, code }) => severity === 'error' && code === 'graph.unknown-selection');
  const named = selection.map(({ at }) => String(valueAt(request, at))).sort();
  const message =
    selection.length === errors.length
      ? `Tasks ${named.join(', ')} are not present in deployment graph`
      : errors
          .slice(0, SHOWN)
          .map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`))
          .join('; ');
  const more: Omit<Problem, 'code' | 'message'> = {
    hint: errors.find(({ hint }) => hint !== undefined)?.hint ?? 'Correct the named fields.',
    errors: found,
  };
  return problem('invalid', message, more);
}
