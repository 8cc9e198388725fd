import { isMapping, type ValuePath } from '../../core/data/plain-value.ts';
import type { ReportLayout } from './owned-value.ts';
import type { SiteDocument } from './site-document.ts';

/** A key that Drydock applies and MAAS cannot, and the alternative. */
interface WithoutEffect {
  /** In the document's data. */
  readonly key: readonly [string, ...string[]];
  /** A value that asks for nothing. */
  readonly unless?: unknown;
  /** Existing documents describe their network with some of them: a site without is the same site. */
  readonly severity: 'error' | 'warning';
  readonly why: string;
  readonly hint: string;
}

export const OF_NETWORKS: readonly WithoutEffect[] = [
  {
    key: ['dhcp_relay'],
    severity: 'warning',
    why: 'MAAS relays DHCP between its VLANs',
    hint: 'Set the relay at the VLAN in MAAS.',
  },
  {
    key: ['dns', 'domain'],
    severity: 'warning',
    why: 'MAAS gives machines the domain of their names',
    hint: 'Name the nodes with it: node01.DOMAIN.',
  },
];

export const OF_LINKS: readonly WithoutEffect[] = [
  {
    key: ['linkspeed'],
    unless: 'auto',
    severity: 'warning',
    why: 'MAAS does not set the speed of links',
    hint: 'Set it at the switch.',
  },
];

/** Reports valid keys that cannot be applied. */
export function reportWithoutEffect(
  documents: readonly SiteDocument[],
  keys: readonly WithoutEffect[],
  report: ReportLayout,
): void {
  for (const document of documents) {
    for (const { key, unless, severity, why, hint } of keys) {
      const value = key.reduce<unknown>((part, name) => (isMapping(part) ? part[name] : undefined), document.data);
      if (value === undefined || value === null || value === unless || isEmpty(value)) continue;
      const path: ValuePath = ['data', ...key];
      const message = `${key.join('.')} of '${document.name}' has no effect: ${why}`;
      report({ document, path }, { severity, code: 'document.no-effect', message, hint });
    }
  }
}

const isEmpty = (value: unknown): boolean => isMapping(value) && Object.keys(value).length === 0;
