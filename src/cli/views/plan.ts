import type { NodeStatuses } from '../../core/contracts/node-in-run.ts';
import type { Strategy } from '../../core/contracts/strategy.ts';
import { maintenanceText } from '../../core/maintenance.ts';
import { printable } from '../../core/text/control-characters.ts';
import { paintFor } from './paint.ts';
import { strategyText } from './strategy.ts';

/** The groups of a revision, and how many of their machines are in which state. */
export function planText(strategy: Strategy, status: NodeStatuses, color = false): string {
  const paint = paintFor(color);
  const counts = new Map<string, number>();
  for (const { status: state } of status.nodes) {
    const name = state ?? 'not known to MAAS';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const states = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${count} ${printable(name)}`);
  const stale = status.stale
    ? paint.busy(` (MAAS did not answer: ${printable(status.reason ?? '')}; last known state)`)
    : '';
  const refused = status.nodes.flatMap(({ node, deployment }) =>
    deployment?.does === 'refuse' ? [`  ${printable(`${node}: ${deployment.why}`)}\n`] : [],
  );
  const refusals = refused.length === 0 ? '' : `${paint.bad('would be refused:')}\n${refused.join('')}`;
  const kept = status.nodes.flatMap(({ node, maintenance }) =>
    maintenance === undefined ? [] : [`  ${printable(`${node}: ${maintenanceText(maintenance)}`)}\n`],
  );
  const leftOut = kept.length === 0 ? '' : `left out:\n${kept.join('')}`;
  return `${printable(status.site)} revision ${status.revision}\n${strategyText(strategy, color)}machines: ${states.join(', ') || 'none'}${stale}\n${leftOut}${refusals}`;
}
