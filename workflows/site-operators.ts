import { whyNotRetry } from '../src/core/deployment/index.js';
import { isoTime, readNote } from '../src/core/run/index.js';
import { fitReport, reportRun, statusOf, treeOf } from '../src/core/site-run/index.js';
import { handle } from './border.js';
import type { SiteRunContract } from './contract.js';
import { refusal, textOf } from './failures.js';
import { steeringHandlers } from './operators.js';
import type { SiteRun } from './site-run.js';

/** Sets the handlers for operators of a site run: signals, updates and queries (design §5). */
export function handleSiteOperators(run: SiteRun): void {
  const { progress, control, slices } = run;
  const status = () => statusOf(progress);
  const steering = steeringHandlers({ control, status, forward: slices.forward });
  handle<SiteRunContract>({
    signals: {
      ...steering.signals,
      call_progress: {
        handle(part) {
          slices.onProgress(part);
          control.wake();
        },
      },
    },
    updates: {
      ...steering.updates,
      retry_node: {
        description: 'Retries a failed node while the baremetal step runs: {"node": "...", "reason": "..."}',
        validate: (request) => refuseRetry(run, request),
        handle(request) {
          const { node } = request;
          progress.operator.push({ action: 'retry_node', node, at: isoTime(Date.now()), ...readNote(request) });
          run.retries?.push(node);
          control.wake();
          run.show();
          return status();
        },
      },
    },
    queries: {
      status: { description: 'Phase, n of m nodes, failing first.', answer: status },
      report: {
        description: 'What happened so far to every group and node, and why.',
        answer: () => fitReport(reportRun(progress)),
      },
      tree: { description: 'Every step and node.', answer: () => treeOf(progress) },
      plan: { description: 'Nodes, groups and time limits of this run.', answer: () => progress.plan ?? null },
    },
  });
}

function refuseRetry({ progress, retries }: SiteRun, request: unknown): void {
  const node = textOf(request, 'node');
  const { baremetal } = progress;
  const refused = (message: string) => refusal('RetryRefused', message);
  if (node === undefined) throw refused('the payload needs the name of a node: {"node": "..."}');
  if (!retries || !baremetal) {
    throw refused(
      `the run is in phase ${statusOf(progress).phase}; nodes can be retried only while the baremetal step runs. Start the run again instead: it continues where it stopped`,
    );
  }
  if (retries.includes(node)) throw refused(`a retry of node ${node} is already pending`);
  const why = whyNotRetry(baremetal, node);
  if (why) throw refused(why);
}
