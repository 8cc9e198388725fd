import { given } from '../core/data/given.ts';
import { countStates } from '../core/deployment/index.ts';
import { newestWarnings } from '../core/run/index.ts';
import type { RunReport, RunStatus } from '../core/site-run/index.ts';
import type { RunRecord } from '../store/index.ts';

/** The status of an ended run, from its report: Temporal may have deleted its history. */
export function siteStatusFromReport(run: RunRecord, report: RunReport): RunStatus {
  const nodes = report.baremetal?.nodes ?? [];
  const counts = countStates(nodes);
  return {
    site: report.site,
    phase: 'finished',
    paused: null,
    stopping: false,
    outcome: (run.outcome ?? 'failed') as NonNullable<RunStatus['outcome']>,
    done: counts.success + counts.failed,
    total: nodes.length,
    counts,
    failed: nodes
      .filter((node) => node.state === 'failed')
      .slice(0, 20)
      .map((node) => ({
        node: node.name,
        reason: node.reason ?? '',
        ...given({ group: node.group }),
      })),
    current: null,
    software: null,
    groups: (report.baremetal?.groups ?? []).map(({ name, critical, state, reason }) => ({
      name,
      critical,
      state,
      ...given({ reason }),
    })),
    warnings: newestWarnings(report.warnings),
  };
}
