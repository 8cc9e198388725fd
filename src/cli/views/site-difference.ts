import type { SiteDrift } from '../../core/contracts/site-drift.ts';
import type { SiteDifference } from '../../core/contracts/strategy.ts';
import { together } from '../../core/data/together.ts';
import { maintenanceText } from '../../core/maintenance.ts';
import { OUT_OF_SERVICE, outOfServiceNodes, outOfServiceText } from '../../core/node-system.ts';
import { changeText } from '../../core/setting-change-text.ts';
import { stateWord } from '../../core/state-word.ts';
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

/** Machines that differ from their deployment, each difference in a line; then one line of counts. */
export function driftText({ site, nodes }: SiteDrift, color = false): string {
  const paint = paintFor(color);
  const lines = nodes.flatMap(({ node, state, system_id, deployed_at, revision, differences, maintenance, reason }) => {
    if (state === 'failed' || state === 'bare')
      return [`${paint.bad('!')} ${printable(node)} ${stateWord(state)}: ${printable(reason ?? '')}\n`];
    if (state === 'same' || state === 'unrecorded' || state === 'never_deployed') return [];
    const since = `deployed ${deployed_at?.slice(0, 16).replace('T', ' ')} UTC with revision ${revision}`;
    const missing = state === 'missing' ? [`  ${paint.bad(`MAAS no longer lists its machine ${system_id}`)}\n`] : [];
    return [
      `${paint.busy('~')} ${printable(node)}, ${since}\n`,
      ...(maintenance === undefined ? [] : [`  ${paint.busy(printable(maintenanceText(maintenance)))}\n`]),
      ...missing,
      ...differences.map(({ what, deployed, now }) => `  ${printable(what)}: ${was(deployed)} -> ${was(now)}\n`),
    ];
  });
  const count = (wanted: string): number => nodes.filter(({ state }) => state === wanted).length;
  const unrecorded = count('unrecorded');
  const more = unrecorded === 0 ? '' : `; ${unrecorded} not recorded: their next deployment records them`;
  const out = OUT_OF_SERVICE.flatMap((wanted) => {
    const names = nodes.filter(({ state }) => state === wanted).map(({ node }) => printable(node));
    return outOfServiceNodes(wanted, names).map((one) => `; ${outOfServiceText(one)}`);
  }).join('');
  const kept = nodes.filter(isDifferent).filter(({ maintenance }) => maintenance !== undefined).length;
  const working = kept === 0 ? '' : `; ${kept} of these in maintenance`;
  const total = `${counted(nodes.length, 'node')}: ${count('same')} as deployed, ${count('drifted')} changed, ${count('missing')} missing${working}${more}${out}`;
  return `${lines.join('')}${printable(site)}, ${nodes.length === 0 ? 'nothing is deployed' : total}\n`;
}

const isDifferent = ({ state }: SiteDrift['nodes'][number]): boolean => state === 'drifted' || state === 'missing';

const was = (text: string | null): string => (text === null ? 'none' : printable(text));
