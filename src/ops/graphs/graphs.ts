import { given } from '../../core/data/given.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { GraphSurroundings, GraphTask, GraphUpload } from '../../graph/index.ts';
import type { GraphContent, GraphFilter, GraphOwner, StoredGraph } from '../../store/index.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { type ClusterLayer, clusterTasks } from './cluster-tasks.ts';
import { drawingOf } from './graph-drawing.ts';
import type { GraphReading, GraphSource } from './graph-source.ts';
import { cutTasks, type GraphCut } from './task-cut.ts';

/** Which graphs to list: those of any of these owners that have one of the types. */
interface GraphListFilter extends Omit<GraphFilter, 'ids'> {
  /** Includes the graphs of each cluster's release and enabled plugins. */
  readonly fetchRelated?: boolean;
}

/** The result of an upload. */
export interface UploadedGraph {
  readonly graph: StoredGraph;
  /** Possible mistakes that do not prevent storing: undefined names. */
  readonly warnings: readonly Diagnostic[];
}

interface GraphCheck {
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly tasks: number;
}

/**
 * Task graphs and their owners. A refused upload comes with all its problems.
 * @throws `invalid`, `not-found`, `conflict` in Fuel's terms.
 */
export class GraphOperations extends Service {
  async list({ fetchRelated, ...wanted }: GraphListFilter): Promise<readonly StoredGraph[]> {
    const filter = { ...wanted };
    if (fetchRelated && wanted.clusters !== undefined) {
      const related = await this.#relatedOwners(wanted.clusters);
      filter.releases = [...new Set([...(wanted.releases ?? []), ...related.releases])];
      filter.plugins = [...new Set([...(wanted.plugins ?? []), ...related.plugins])];
    }
    return this.store.graphs.list(filter);
  }
  get(id: number): Promise<StoredGraph> {
    return this.store.graphs.get(id);
  }
  /** The graph alone in Graphviz format, for an SVG. */
  async drawing(id: number): Promise<string> {
    return this.reader.drawing(drawingOf((await this.store.graphs.get(id)).tasks, { classes: true }));
  }
  /** Absent fields keep their values; given tasks replace all tasks. */
  async update(id: number, source: GraphSource, actor: string): Promise<UploadedGraph> {
    return this.#changed(await this.store.graphs.get(id), source, actor);
  }
  async delete(id: number, actor: string): Promise<void> {
    await this.#removed(await this.store.graphs.get(id), actor);
  }

  /** The graphs of one owner. */
  async ofOwner(owner: GraphOwner): Promise<readonly StoredGraph[]> {
    await this.#mustExist(owner);
    return this.store.graphs.list(filterOf(owner));
  }
  readonly find = async (owner: GraphOwner, type: string): Promise<StoredGraph> => {
    const graph = await this.store.graphs.find(owner, type);
    if (graph !== null) return graph;
    const others = (await this.store.graphs.listBrief(filterOf(owner))).flatMap((one) => one.type ?? []);
    throw problem('not-found', `Graph with type: ${type} is not defined`, {
      hint:
        others.length === 0
          ? `${owner.kind} ${owner.id} has no graphs yet. Upload one.`
          : (didYouMean(type, others) ?? `${owner.kind} ${owner.id} has graphs of type ${others.sort().join(', ')}.`),
    });
  };
  async create(owner: GraphOwner, type: string, source: GraphSource, actor: string): Promise<UploadedGraph> {
    if ((await this.store.graphs.find(owner, type)) !== null) {
      throw problem('conflict', `Deployment graph with type "${type}" already exist.`, {
        hint: 'Change it with PUT, or delete it first.',
      });
    }
    const { content, warnings } = await this.#accepted(source, 'graph', owner, type);
    const graph = await this.store.graphs.create(owner, type, content);
    await this.#audited(actor, 'graph.create', graph);
    return { graph, warnings };
  }
  async change(owner: GraphOwner, type: string, source: GraphSource, actor: string): Promise<UploadedGraph> {
    return this.#changed(await this.find(owner, type), source, actor);
  }
  async remove(owner: GraphOwner, type: string, actor: string): Promise<void> {
    await this.#removed(await this.find(owner, type), actor);
  }
  /** Creates or replaces an owner's graph from a plain list of tasks. */
  async replaceTasks(owner: GraphOwner, type: string, source: GraphSource, actor: string): Promise<UploadedGraph> {
    await this.#mustExist(owner);
    const { content, warnings } = await this.#accepted(source, 'tasks', owner, type);
    const { graph, created } = await this.store.graphs.put(owner, type, content);
    await this.#audited(actor, created ? 'graph.create' : 'graph.update', graph);
    return { graph, warnings };
  }
  /** Checks a graph without storing it: alone, or as the graph of an owner. */
  async check(source: GraphSource, as?: { readonly owner: GraphOwner; readonly type: string }): Promise<GraphCheck> {
    const surroundings = as === undefined ? {} : await graphSurroundings(this.deps, as.owner, as.type);
    const { upload, diagnostics } = await this.reader.graph({ source, as: 'either', surroundings });
    return { valid: !diagnostics.some(isError), diagnostics, tasks: upload.tasks?.length ?? 0 };
  }

  /** Tasks of one layer of a cluster, or merged from all. A type without graphs has none. */
  async tasks(cluster: number, type: string, layer: ClusterLayer, cut?: GraphCut): Promise<readonly GraphTask[]> {
    return cutTasks(await clusterTasks(this.store, cluster, type, layer), cut);
  }
  /** A release's tasks of a type; a type without graph has none. */
  async releaseTasks(release: number, type: string, cut?: GraphCut): Promise<StoredGraph['tasks']> {
    const graph = await this.store.graphs.find({ kind: 'release', id: release }, type);
    return cutTasks(graph?.tasks ?? [], cut);
  }

  async #audited(actor: string, action: string, graph: StoredGraph): Promise<void> {
    const { owner, type, id } = graph;
    const target = `${owner.kind}/${owner.id}/graphs/${type}`;
    await this.store.audit.append({ actor, action, target, details: { graph: id, tasks: graph.tasks.length } });
  }

  /** The upload, if it has no errors. */
  async #accepted(
    source: GraphSource,
    as: GraphReading['as'],
    owner: GraphOwner,
    type: string,
  ): Promise<{ content: GraphContent; warnings: readonly Diagnostic[] }> {
    const surroundings = await graphSurroundings(this.deps, owner, type);
    const { upload, diagnostics } = await this.reader.graph({ source, as, surroundings });
    if (diagnostics.some(isError)) throw refusal(diagnostics);
    return { content: contentOf(upload), warnings: diagnostics };
  }

  async #changed(graph: StoredGraph, source: GraphSource, actor: string): Promise<UploadedGraph> {
    const { content, warnings } = await this.#accepted(source, 'graph', graph.owner, graph.type);
    const stored = await this.store.graphs.update(graph.id, content);
    await this.#audited(actor, 'graph.update', stored);
    return { graph: stored, warnings };
  }

  async #removed(graph: StoredGraph, actor: string): Promise<void> {
    await this.store.graphs.delete(graph.id);
    await this.#audited(actor, 'graph.delete', graph);
  }

  async #mustExist(owner: GraphOwner): Promise<void> {
    const { kind, id } = owner;
    if (kind === 'cluster') await this.store.clusters.brief(id);
    else if (kind === 'release') await this.store.releases.get(id);
    else await this.store.plugins.get(id);
  }

  /** An unknown cluster has no related owners, so a filter matches none of its graphs. */
  async #relatedOwners(ids: readonly number[]): Promise<{ releases: number[]; plugins: number[] }> {
    const clusters = await this.store.clusters.list({ ids });
    const plugins = await Promise.all(clusters.map(({ id }) => this.store.plugins.ofCluster(id, { enabled: true })));
    return {
      releases: clusters.map(({ releaseId }) => releaseId),
      plugins: plugins.flat().map(({ plugin }) => plugin.id),
    };
  }
}

const filterOf = ({ kind, id }: GraphOwner) =>
  kind === 'cluster' ? { clusters: [id] } : kind === 'release' ? { releases: [id] } : { plugins: [id] };

/** Converts an upload to the store's names; absent fields stay absent. */
function contentOf({ node_filter, on_success, on_error, on_stop, name, tasks }: GraphUpload): GraphContent {
  return {
    ...given({ name, nodeFilter: node_filter }),
    ...(on_success === undefined ? {} : { onSuccess: on_success as GraphContent['onSuccess'] & object }),
    ...(on_error === undefined ? {} : { onError: on_error as GraphContent['onError'] & object }),
    ...(on_stop === undefined ? {} : { onStop: on_stop as GraphContent['onStop'] & object }),
    ...given({ tasks }),
  };
}

const SHOWN = 10;

/** All findings; the message contains the first errors, for clients that show nothing else. */
function refusal(found: readonly Diagnostic[]) {
  const errors = found.filter(isError);
  const shown = errors
    .slice(0, SHOWN)
    .map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`));
  const more = errors.length > SHOWN ? ` (and ${errors.length - SHOWN} more)` : '';
  const only = errors.length === 1 && errors[0]!.code === 'graph.duplicate-task';
  return problem('invalid', only ? errors[0]!.message : shown.join('; ') + more, {
    hint: errors.find(({ hint }) => hint !== undefined)?.hint ?? 'Correct the graph.',
    errors: found,
  });
}

/**
 * The tasks that surround an owner's tasks of a type. A cluster's tasks override those of its plugins and release. A plugin's
 * tasks join those of a release that is not known yet, so every name of the type may be defined.
 */
async function graphSurroundings(
  { store, masterAllowed = false }: Pick<OpsDependencies, 'store' | 'masterAllowed'>,
  owner: GraphOwner,
  type: string,
): Promise<GraphSurroundings> {
  switch (owner.kind) {
    case 'cluster': {
      const below = (await clusterTasks(store, owner.id, type, 'below')) as readonly GraphTask[];
      // Packages may have such tasks: they are for clusters of many installations.
      return { below, masterDenied: !masterAllowed };
    }
    case 'plugin': {
      const graphs = await store.graphs.listBrief({ types: [type] });
      return { known: new Set(graphs.flatMap(({ taskNames }) => taskNames)) };
    }
    case 'release':
      return {};
  }
}
