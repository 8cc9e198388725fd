import type { Client } from '@temporalio/client';
import type { LateNode } from '../core/contracts/site-run.ts';
import { given } from '../core/data/given.ts';
import { findExecution } from '../runs/find-execution.ts';
import { StepTimes } from '../runs/step-times.ts';
import type { RunRecord, StorePorts } from '../store/index.ts';
import { isOfNode } from './attempts.ts';

/** Reports are large, and statuses are asked for every second. */
const KEPT_MS = 3_000;
const MAX_KEPT = 200;
/** Children that are asked what MAAS said. */
const MAX_CHILDREN = 20;

interface Kept {
  readonly at: number;
  readonly nodes: Promise<readonly LateNode[]>;
}

/** The nodes of open runs whose steps take longer than they should, with what MAAS last said of them. */
export class LateNodes {
  readonly #times: StepTimes;
  readonly #client: Client;
  readonly #kept = new Map<string, Kept>();

  constructor(store: Pick<StorePorts, 'runs'>, client: Client) {
    this.#times = new StepTimes(store);
    this.#client = client;
  }

  /** As of some seconds ago. */
  of(run: RunRecord): Promise<readonly LateNode[]> {
    const known = this.#kept.get(run.id);
    if (known !== undefined && Date.now() - known.at < KEPT_MS) return known.nodes;
    const nodes = this.#look(run);
    this.#kept.delete(run.id);
    this.#kept.set(run.id, { at: Date.now(), nodes });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    nodes.catch(() => this.#kept.delete(run.id));
    return nodes;
  }

  async #look(run: RunRecord): Promise<readonly LateNode[]> {
    const late = await this.#times.late(run);
    if (late.length === 0) return late;
    // A Temporal that does not answer takes nothing else from the status.
    const said = await this.#said(run).catch(() => ({}));
    return late.map((one) => ({ ...one, ...given({ said: saidOf(said, one) }) }));
  }

  async #said({ workflowId, temporalRunId }: RunRecord): Promise<Readonly<Record<string, string>>> {
    const found = await findExecution(this.#client, workflowId, temporalRunId);
    if (found === null) return {};
    const children = found.children.slice(0, MAX_CHILDREN);
    const all = await Promise.all(children.map((child) => findExecution(this.#client, child.workflowId, null)));
    return Object.assign({}, ...(await Promise.all([found, ...all].map((one) => one?.said()))));
  }
}

function saidOf(said: Readonly<Record<string, string>>, { node, step }: LateNode): string | undefined {
  const id = Object.keys(said).find(isOfNode(node, [step]));
  return id === undefined ? undefined : said[id];
}
