import type { SiteDifference } from '../../core/contracts/index.ts';
import { changeText } from '../../core/setting-change-text.ts';
import { printable } from '../../core/text/control-characters.ts';
import { paintFor } from './paint.ts';

/** A revision compared with the deployed one: `+` new, `~` changed, `-` removed; then one line of counts. */
export function differenceText(difference: SiteDifference, color = false): string {
  const { site, revision, since, nodes, groups, configuration, unchanged_nodes: unchanged } = difference;
  const paint = paintFor(color);
  const signs = { added: paint.good('+'), changed: paint.busy('~'), removed: paint.bad('-') };
  const linesOf = (kind: string, changes: SiteDifference['nodes']): string[] =>
    changes.flatMap(({ name, change, values }) => [
      `${signs[change]} ${kind} ${printable(name)}\n`,
      ...values.map(({ field, before, after }) => `    ${printable(field)}: ${printable(changeText(before, after))}\n`),
    ]);
  const count = (wanted: string): number => nodes.filter(({ change }) => change === wanted).length;
  const against = since === null ? 'nothing deployed yet' : `revision ${since}`;
  return [
    `${printable(site)} revision ${revision} against ${against}\n`,
    ...linesOf('node', nodes),
    ...linesOf('group', groups),
    ...(configuration.length === 0 ? [] : [`${signs.changed} configuration: ${configuration.join(', ')}\n`]),
    `nodes: ${count('added')} new, ${count('changed')} changed, ${count('removed')} removed, ${unchanged} unchanged\n`,
  ].join('');
}
