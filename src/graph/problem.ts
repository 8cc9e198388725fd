import { given } from '../core/data/given.ts';
import { printPath, type ValuePath } from '../core/data/plain-value.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { someOf } from '../core/text/text.ts';

/** A finding with the path of its value; `Diagnostic.path` is the printed form. */
export interface GraphProblem extends Diagnostic {
  readonly at: ValuePath;
}

/** Thrown inside planning for an invalid value; {@link Problems} collects it. */
export class GraphProblemError extends Error {
  override readonly name = 'GraphProblemError';
  readonly code: string;
  readonly hint: string | undefined;
  /** Path below the current value. */
  readonly below: ValuePath;

  constructor(code: string, message: string, hint?: string, below: ValuePath = []) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.below = below;
  }
}

/** Thrown for an expression that reads a missing part of the state. */
export class MissingFactsError extends GraphProblemError {
  /** `$.network_scheme`: up to the key that is missing. */
  readonly paths: readonly string[];

  constructor(paths: readonly string[], below: ValuePath = []) {
    const [first, ...more] = paths;
    super(
      'graph.missing-facts',
      `there is no ${first}${more.length === 0 ? '' : `, and no ${more.join(', ')}`}`,
      'Give it as a fact, or read a key that may be absent with .get(key, default).',
      below,
    );
    this.paths = paths;
  }
}

/** Who reads a missing fact. */
interface Readers {
  readonly at: ValuePath;
  readonly tasks: Set<string>;
  readonly nodes: Set<string>;
}

/** Collects findings. The same problem on many nodes is reported once, with the nodes. */
export class Problems {
  readonly #list: GraphProblem[] = [];
  #errors = 0;
  readonly #perNode = new Map<string, { readonly problem: GraphProblem; readonly nodes: string[] }>();
  /** By path, such as `$.network_scheme`. */
  readonly #missing = new Map<string, Readers>();
  readonly #factsHint: string;
  readonly #nodeNames: ReadonlyMap<string, string>;

  /** @param factsHint how to give facts that are missing @param nodeNames how people call nodes, by uid */
  constructor(
    factsHint = 'Add them to cluster.deployment_info of the input.',
    nodeNames: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#factsHint = factsHint;
    this.#nodeNames = nodeNames;
  }

  /** How people call a node. */
  nodeName(uid: string): string {
    return this.#nodeNames.get(uid) ?? uid;
  }

  add(problem: Omit<GraphProblem, 'path'>): void {
    if (problem.severity === 'error') this.#errors += 1;
    this.#list.push({ ...problem, ...(problem.at.length === 0 ? {} : { path: printPath(problem.at) }) });
  }

  error(at: ValuePath, code: string, message: string, hint?: string): void {
    this.add({ severity: 'error', code, message, at, ...given({ hint }) });
  }

  warning(at: ValuePath, code: string, message: string, hint?: string): void {
    this.add({ severity: 'warning', code, message, at, ...given({ hint }) });
  }

  /** Runs `work`; reports a GraphProblemError at `at` and returns undefined. Other errors are rethrown. */
  attempt<T>(at: ValuePath, work: () => T, node?: string): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof GraphProblemError)) throw error;
      const { code, message, hint, below } = error;
      if (error instanceof MissingFactsError) this.#onMissing(error.paths, [...at, ...below], node);
      else if (node === undefined) this.error([...at, ...below], code, message, hint);
      else this.#onNode(node, [...at, ...below], code, message, hint);
      return undefined;
    }
  }

  #onNode(node: string, at: ValuePath, code: string, message: string, hint: string | undefined): void {
    const key = JSON.stringify([at, code, message]);
    const known = this.#perNode.get(key);
    if (known !== undefined) known.nodes.push(node);
    else {
      const problem = { severity: 'error' as const, code, message, at, ...given({ hint }) };
      this.#perNode.set(key, { problem, nodes: [node] });
    }
  }

  #onMissing(paths: readonly string[], at: ValuePath, node: string | undefined): void {
    for (const path of paths) {
      const readers = this.#missing.get(path) ?? { at, tasks: new Set(), nodes: new Set() };
      this.#missing.set(path, readers);
      readers.tasks.add(printPath(at.slice(0, at.indexOf('tasks') + 2)));
      if (node !== undefined) readers.nodes.add(node);
    }
  }

  /** Missing facts, as one problem. */
  #missingFacts(): GraphProblem[] {
    const [first] = this.#missing.values();
    if (first === undefined) return [];
    const parts = [...this.#missing].map(
      ([path, { tasks }]) => `${path} (${tasks.size} ${tasks.size === 1 ? 'task' : 'tasks'})`,
    );
    const nodes = [...new Set([...this.#missing.values()].flatMap((readers) => [...readers.nodes]))];
    return [
      {
        severity: 'error',
        code: 'graph.missing-facts',
        message: `tasks read missing facts: ${parts.join(', ')}${nodes.length === 0 ? '' : ` (on ${this.nodesText(nodes)})`}`,
        hint: `${this.#factsHint} A task reads a key that may be absent with .get(key, default).`,
        at: first.at,
        path: printPath(first.at),
      },
    ];
  }

  get hasErrors(): boolean {
    return this.#perNode.size > 0 || this.#missing.size > 0 || this.#errors > 0;
  }

  /** Errors so far that are of no node. */
  get errors(): number {
    return this.#errors;
  }

  /** All findings so far, in order. */
  all(): GraphProblem[] {
    const many = [...this.#perNode.values()].map(({ problem, nodes }) => ({
      ...problem,
      message: `${problem.message} (on ${this.nodesText(nodes)})`,
      path: printPath(problem.at),
    }));
    return [...this.#list, ...this.#missingFacts(), ...many];
  }

  /** `nodes web-1, web-2 and 3 more`. */
  nodesText(uids: readonly string[], most = SHOWN_NODES): string {
    const names = uids.map((uid) => this.nodeName(uid));
    return `${names.length === 1 ? 'node' : 'nodes'} ${someOf(names, most)}`;
  }
}

const SHOWN_NODES = 5;
