import type { Diagnostic } from '../core/diagnostic.js';
import { printPath, type ValuePath } from '../core/plain-value.js';

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

/** Collects findings. The same problem on many nodes is reported once, with the nodes. */
export class Problems {
  readonly #list: GraphProblem[] = [];
  readonly #perNode = new Map<string, { readonly problem: GraphProblem; readonly nodes: string[] }>();

  add(problem: Omit<GraphProblem, 'path'>): void {
    this.#list.push({ ...problem, ...(problem.at.length === 0 ? {} : { path: printPath(problem.at) }) });
  }

  error(at: ValuePath, code: string, message: string, hint?: string): void {
    this.add({ severity: 'error', code, message, at, ...(hint === undefined ? {} : { hint }) });
  }

  warning(at: ValuePath, code: string, message: string, hint?: string): void {
    this.add({ severity: 'warning', code, message, at, ...(hint === undefined ? {} : { hint }) });
  }

  /** Runs `work`; reports a GraphProblemError at `at` and returns undefined. Other errors are rethrown. */
  attempt<T>(at: ValuePath, work: () => T, node?: string): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof GraphProblemError)) throw error;
      const { code, message, hint, below } = error;
      if (node === undefined) this.error([...at, ...below], code, message, hint);
      else this.#onNode(node, [...at, ...below], code, message, hint);
      return undefined;
    }
  }

  #onNode(node: string, at: ValuePath, code: string, message: string, hint: string | undefined): void {
    const key = JSON.stringify([at, code, message]);
    const known = this.#perNode.get(key);
    if (known !== undefined) known.nodes.push(node);
    else {
      const problem = { severity: 'error' as const, code, message, at, ...(hint === undefined ? {} : { hint }) };
      this.#perNode.set(key, { problem, nodes: [node] });
    }
  }

  get hasErrors(): boolean {
    return this.#perNode.size > 0 || this.#list.some(({ severity }) => severity === 'error');
  }

  /** All findings so far, in order. */
  all(): GraphProblem[] {
    const many = [...this.#perNode.values()].map(({ problem, nodes }) => ({
      ...problem,
      message: `${problem.message} (on ${nodeList(nodes)})`,
      path: printPath(problem.at),
    }));
    return [...this.#list, ...many];
  }
}

const SHOWN_NODES = 5;

function nodeList(nodes: readonly string[]): string {
  const shown = nodes.slice(0, SHOWN_NODES).join(', ');
  const more = nodes.length - SHOWN_NODES;
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}
