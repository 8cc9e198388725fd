import type { Diagnostic } from '../../core/diagnostic.js';
import { isMapping, type ValuePath } from '../../core/plain-value.js';
import { placeProblem } from '../diagnostics/place-problem.js';
import type { Checked } from './site-document.js';

/** Keys that Drydock applies and this program does not, and what to do instead. */
interface WithoutEffect {
  /** Where they are in the document's data. */
  readonly at: readonly string[];
  readonly keys: readonly string[];
  readonly why: string;
  readonly hint: string;
}

export const OF_NETWORKS: WithoutEffect = {
  at: [],
  keys: ['ranges', 'dns', 'dhcp_relay', 'routes', 'routedomain'],
  why: 'MAAS has the network already',
  hint: 'Set this up at the subnet in MAAS, and remove it here.',
};

export const OF_LINKS: WithoutEffect = {
  at: [],
  keys: ['linkspeed'],
  why: 'MAAS does not set the speed of links',
  hint: 'Set it at the switch, and remove it here.',
};

export const OF_MACHINES: WithoutEffect = {
  at: ['platform'],
  keys: ['kernel_params'],
  why: 'MAAS takes kernel parameters from its tags',
  hint: 'Give a tag of the machine in MAAS these kernel options, and remove them here.',
};

/** Warns about what is written and valid, but is not applied. */
export function warnWithoutEffect(
  documents: readonly Checked<unknown>[],
  { at, keys, why, hint }: WithoutEffect,
  report: (diagnostic: Diagnostic) => void,
): void {
  for (const { document, data } of documents) {
    const part = at.reduce<unknown>((value, key) => (isMapping(value) ? value[key] : undefined), data);
    if (!isMapping(part)) continue;
    for (const key of keys) {
      const value = part[key];
      if (value === undefined || value === null || isEmpty(value)) continue;
      const path: ValuePath = ['data', ...at, key];
      const message = `${key} of '${document.name}' has no effect: ${why}`;
      report(placeProblem(document.yaml, { severity: 'warning', code: 'document.no-effect', message, hint, path }));
    }
  }
}

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isMapping(value) && Object.keys(value).length === 0);
