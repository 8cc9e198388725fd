import { graphWorkflowId } from '../../../workflows/protocol.ts';
import { diagnosticOf } from '../../clusters/checks/run-findings.ts';
import { explainGraphRunFailure } from '../../core/graph-run/failure.ts';
import { type GraphRunInput, parseGraphRunInput } from '../../core/graph-run/input.ts';
import { titleOfGraphRun } from '../../core/graph-run/title.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { missingAgents } from '../agent-presence.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { invalidInput } from '../problem.ts';
import { refusalOf } from '../refusal.ts';
import { type StartedRun, startRun } from '../start-run.ts';
import { type ShownTransaction, withProgress } from './transaction-progress.ts';

type WaitingRun = Extract<StartedRun<'execute_graph'>, { readonly kind: 'waiting' }>;

export interface StartedDeployment {
  /** The run's transaction, or the run that no worker has opened yet. */
  readonly run: ShownTransaction | (WaitingRun & { readonly cluster: number });
  /** Findings that do not keep it from running; with `force`, errors too. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * Starts a graph run.
 *
 * @throws `invalid`, `not-found`; `conflict` naming the cluster's open run
 */
export async function startGraphRun(deps: OpsDependencies, input: GraphRunInput): Promise<StartedDeployment> {
  const parsed = parseGraphRunInput([input]);
  if (!parsed.ok) throw invalidInput(parsed.problems);
  const { cluster, started_by } = input;
  const by = started_by === undefined ? '' : ` by ${started_by}`;
  const id = graphWorkflowId(cluster, runKey());
  // Temporal shows it; the run itself says that there is no such cluster.
  const name = await deps.store.clusters.brief(cluster).then(
    (one) => one.name,
    () => String(cluster),
  );
  const started = await startRun(deps, 'execute_graph', id, input, `${titleOfGraphRun(input, name)}${by}`);
  switch (started.kind) {
    case 'refused':
      throw await refusalOf(deps, started.failure, explainGraphRunFailure(started.failure, cluster, null), cluster);
    case 'waiting':
      return { run: { ...started, cluster }, warnings: [] };
    case 'opened': {
      const { number, warnings } = started.run;
      // A dry run asks no agent.
      const missing = input.mode === 'dry_run' ? [] : await missingAgents(deps, cluster, input.graphs?.[0]?.nodes);
      return {
        run: await withProgress(deps.store, await deps.store.transactions.get(number)),
        warnings: [...warnings, ...missing.map(diagnosticOf)],
      };
    }
  }
}

/** Tells the runs of a cluster apart, in the order of their starts. */
const runKey = (): string =>
  Date.now().toString(36) +
  Math.floor(Math.random() * 36 ** 3)
    .toString(36)
    .padStart(3, '0');
