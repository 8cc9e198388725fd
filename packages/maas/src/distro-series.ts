import type { BootResource } from './diagnostic-calls.ts';
import type { Machine } from './machine.ts';

/** Code names of the Ubuntu releases MAAS deploys, by version: `distro_series` accepts either. */
const ubuntuSeries: Readonly<Record<string, string>> = {
  '14.04': 'trusty',
  '16.04': 'xenial',
  '18.04': 'bionic',
  '20.04': 'focal',
  '22.04': 'jammy',
  '22.10': 'kinetic',
  '23.04': 'lunar',
  '23.10': 'mantic',
  '24.04': 'noble',
  '24.10': 'oracular',
  '25.04': 'plucky',
  '25.10': 'questing',
  '26.04': 'resolute',
};

/**
 * Whether a deployed machine runs the wanted series (`jammy`, `ubuntu/jammy`, `22.04`,
 * `custom/name`; without a wanted series any fits). `unknown` when MAAS has cleared the machine's system, as it
 * does when a release is refused half-way, or when the wanted version is unknown here.
 */
export function fitsDistroSeries(machine: Machine, wanted: string | undefined): 'yes' | 'no' | 'unknown' {
  const text = wanted?.trim().toLowerCase() ?? '';
  if (text === '') return 'yes';
  if (machine.osystem === '' && machine.distroSeries === '') return 'unknown';
  const slash = text.indexOf('/');
  const system = slash < 0 ? '' : text.slice(0, slash);
  const series = slash < 0 ? text : text.slice(slash + 1);
  if (system !== '' && system !== machine.osystem.toLowerCase()) return 'no';
  const actual = machine.distroSeries.toLowerCase();
  // `ubuntu/` and `ubuntu` alone name the system, with its default series.
  if (series === '' || (slash < 0 && series === machine.osystem.toLowerCase())) return 'yes';
  if (series === actual || ubuntuSeries[series] === actual) return 'yes';
  return /^\d+\.\d+$/.test(series) && ubuntuSeries[series] === undefined && machine.osystem === 'ubuntu'
    ? 'unknown'
    : 'no';
}

/**
 * The wanted series for which MAAS has no image, so that it would refuse every deployment of them. A version with
 * an unknown name is left to MAAS, as is a system without a series, for which MAAS uses its default.
 */
export function missingSeries(wanted: Iterable<string>, images: readonly Pick<BootResource, 'name'>[]): string[] {
  const names = images.map(({ name }) => name.toLowerCase());
  const isMissing = (text: string): boolean => {
    const [first = '', ...rest] = text.trim().toLowerCase().split('/');
    const series = rest.length === 0 ? first : rest.join('/');
    if (series === '' || (/^\d/.test(series) && ubuntuSeries[series] === undefined)) return false;
    const name = ubuntuSeries[series] ?? series;
    if (rest.length > 0) return !names.includes(`${first}/${name}`) && !(first === 'custom' && names.includes(name));
    return !names.some((one) => one === name || one.endsWith(`/${name}`) || one.startsWith(`${name}/`));
  };
  return [...new Set(wanted)].filter(isMissing).sort();
}
