import type { SiteDifference } from '../../core/contracts/index.ts';
import { together } from '../../core/data/together.ts';
import { changeText } from '../../core/setting-change-text.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted, someOf } from '../../core/text/text.ts';
import { paintFor } from './paint.ts';

const NAMES_SHOWN = 12;

const namesOf = (changes: SiteDifference['nodes']): string[] => changes.map(({ name }) => name);

/** A revision compared with the deployed one: `+` new, `~` changed, `-` removed; then one line of counts. */
export function differenceText(difference: SiteDifference, color = false): string {
  const { site, revision, since, nodes, groups, checks, configuration, unchanged_nodes: unchanged } = difference;
  const paint = paintFor(color);
  const signs = { added: paint.good('+'), changed: paint.busy('~'), removed: paint.bad('-') };
  /** Equal changes of several are one. */
  const linesOf = (kind: string, changes: SiteDifference['nodes']): string[] => {
    const alike = together(changes, (one) => JSON.stringify([one.change, one.values]));
    return [...alike.values()].flatMap((all) => {
      const [{ name, change, values }] = all as [(typeof all)[number]];
      const of =
        all.length === 1 ? `${kind} ${name}` : `${counted(all.length, kind)}: ${someOf(namesOf(all), NAMES_SHOWN)}`;
      return [
        `${signs[change]} ${printable(of)}\n`,
        ...values.map(
          ({ field, before, after }) => `    ${printable(field)}: ${printable(changeText(before, after))}\n`,
        ),
      ];
    });
  };
  const count = (wanted: string): number => nodes.filter(({ change }) => change === wanted).length;
  const against = since === null ? 'nothing deployed yet' : `revision ${since}`;
  return [
    `${printable(site)} revision ${revision} against ${against}\n`,
    ...linesOf('node', nodes),
    ...linesOf('group', groups),
    ...linesOf('check', checks),
    ...(configuration.length === 0 ? [] : [`${signs.changed} configuration: ${configuration.join(', ')}\n`]),
    `nodes: ${count('added')} new, ${count('changed')} changed, ${count('removed')} removed, ${unchanged} unchanged\n`,
  ].join('');
}
