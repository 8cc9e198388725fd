import type { Strategy } from '../../core/contracts/strategy.ts';
import { stepTimeText } from '../../core/run/late-text.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted, someOf } from '../../core/text/text.ts';
import { formatDuration } from './duration.ts';
import { type Paint, paintFor } from './paint.ts';

type Group = Strategy['groups'][number];

/**
 * The groups as a tree: each under the dependency that comes last in the order, other dependencies
 * named; with nodes and criteria. Warnings at the end.
 */
export function strategyText(strategy: Strategy, color = false): string {
  const paint = paintFor(color);
  const position = new Map(strategy.order.map((name, at) => [name, at]));
  const groups = [...strategy.groups].sort((a, b) => (position.get(a.name) ?? 0) - (position.get(b.name) ?? 0));
  const parentOf = (group: Group): string | undefined =>
    [...group.depends_on].sort((a, b) => (position.get(b) ?? 0) - (position.get(a) ?? 0))[0];
  const nodes = new Set(groups.flatMap((group) => group.nodes));
  const title =
    strategy.name === null ? 'no strategy: all nodes are one critical group' : `strategy ${printable(strategy.name)}`;
  const lines = [paint.strong(title), `${counted(groups.length, 'group')}, ${counted(nodes.size, 'node')}`];
  const draw = (parent: string | undefined, indent: string): void => {
    const here = groups.filter((group) => parentOf(group) === parent);
    here.forEach((group, at) => {
      const last = at === here.length - 1;
      const below = groups.some((child) => parentOf(child) === group.name);
      const rest = `${indent}${last ? '   ' : '│  '}`;
      lines.push(
        `${indent}${last ? '└─ ' : '├─ '}${headline(group, (position.get(group.name) ?? 0) + 1, parent, paint)}`,
      );
      for (const line of details(group)) lines.push(`${rest}${below ? '│' : ' '}    ${line}`);
      draw(group.name, rest);
    });
  };
  draw(undefined, '');
  for (const time of strategy.times ?? []) lines.push(printable(stepTimeText(time)));
  const warnings = strategy.warnings.map((text) => `${paint.busy('warning:')} ${printable(text)}`);
  return `${[...lines, ...warnings].join('\n')}\n`;
}

function headline(group: Group, position: number, parent: string | undefined, paint: Paint): string {
  const others = group.depends_on.filter((name) => name !== parent).map(printable);
  const also = others.length > 0 ? paint.dim(` (also after ${others.join(', ')})`) : '';
  return `${position}. ${paint.strong(printable(group.name))}${group.critical ? ' (critical)' : ''}  ${counted(group.nodes.length, 'node')}${also}`;
}

function details({ nodes, success_criteria, successes_needed, waves, soak, stop_at }: Group): string[] {
  const needed =
    Object.keys(success_criteria).length === 0
      ? 'no criteria: always succeeds'
      : successes_needed === null
        ? `cannot succeed with ${counted(nodes.length, 'node')}`
        : `needs ${successes_needed} of ${nodes.length} to succeed`;
  const criteria = Object.entries(success_criteria).map(([name, value]) => thresholdText(name, value, nodes.length));
  const lines = [`${needed}${criteria.length > 0 ? `: ${criteria.join('; ')}` : ''}`];
  if (waves !== undefined) lines.push(rolloutLine(waves, soak, stop_at));
  for (let at = 0; at < nodes.length; at += 8)
    lines.push(
      `${at === 0 ? 'nodes: ' : '       '}${nodes
        .slice(at, at + 8)
        .map(printable)
        .join(', ')}`,
    );
  return lines;
}

function rolloutLine(waves: readonly number[], soak = 0, limit = 1): string {
  const soaks = soak > 0 ? [`each soaks for ${formatDuration(soak * 1000)}`] : [];
  const sizes = `in ${counted(waves.length, 'wave')}: ${someOf(waves.map(String), 12)} nodes`;
  return [sizes, ...soaks, `stops at ${counted(limit, 'failed node')}`].join('; ');
}

/** Each criterion as the number of nodes it requires. */
function thresholdText(name: string, value: number, total: number): string {
  switch (name) {
    case 'percent_successful_nodes':
      return `${value} % successful = at least ${Math.ceil((value * total) / 100)}`;
    case 'minimum_successful_nodes':
      return `at least ${value} successful`;
    case 'maximum_failed_nodes':
      return `at most ${value} failed = at least ${Math.max(0, total - value)}`;
    default:
      return `${name} ${value}`;
  }
}

/** Graphviz: groups as nodes, an arrow from each dependency to its dependent. */
export function strategyDot(strategy: Strategy): string {
  const quote = (text: string): string =>
    `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replace(/\r?\n/g, '\\n')}"`;
  const lines = strategy.groups.map((group) => {
    const needed =
      Object.keys(group.success_criteria).length === 0
        ? ''
        : group.successes_needed === null
          ? ', cannot succeed'
          : `, needs ${group.successes_needed}`;
    const label = `${group.name}\n${counted(group.nodes.length, 'node')}${needed}`;
    return `  ${quote(group.name)} [label=${quote(label)}${group.critical ? ', style=bold, color=red' : ''}];`;
  });
  const edges = strategy.groups.flatMap((group) =>
    [...new Set(group.depends_on)].map((dependency) => `  ${quote(dependency)} -> ${quote(group.name)};`),
  );
  return [
    `digraph ${quote(strategy.name ?? 'strategy')} {`,
    '  rankdir=LR;',
    '  node [shape=box];',
    ...lines,
    ...edges,
    '}',
    '',
  ].join('\n');
}
