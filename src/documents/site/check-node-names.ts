import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { BaremetalNodeData } from '../schemas/baremetal-node.ts';
import type { SiteDocument } from './site-document.ts';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'i');

/** Warns about names and addresses that collide, or that MAAS rejects. */
export function warnAboutNames(
  nodes: readonly SiteDocument<BaremetalNodeData>[],
  report: (diagnostic: Diagnostic) => void,
): void {
  const byLowerCase = new Map<string, string>();
  const byMac = new Map<string, string>();
  for (const { name, data, yaml } of nodes) {
    if (!HOST_NAME.test(name) || name.length > 255) {
      report(
        placeProblem(yaml, {
          code: 'node.bad-hostname',
          message: `'${name}' is not a valid host name: MAAS will refuse it`,
          hint: 'Use letters, digits and hyphens, at most 63 between dots.',
          path: ['metadata', 'name'],
        }),
      );
    }
    const twin = byLowerCase.get(name.toLowerCase());
    if (twin !== undefined && twin !== name) {
      report(
        placeProblem(yaml, {
          severity: 'warning',
          code: 'node.names-differ-in-case',
          message: `'${name}' and '${twin}' are the same host name`,
          hint: 'Host names are not case-sensitive.',
          path: ['metadata', 'name'],
        }),
      );
    }
    byLowerCase.set(name.toLowerCase(), name);
    const mac = data.metadata?.boot_mac?.toLowerCase().replaceAll('-', ':');
    if (mac === undefined) continue;
    const owner = byMac.get(mac);
    if (owner !== undefined) {
      report(
        placeProblem(yaml, {
          severity: 'warning',
          code: 'node.duplicate-mac',
          message: `nodes '${owner}' and '${name}' have the same boot_mac`,
          hint: 'It identifies the machine: each node needs its own.',
          path: ['data', 'metadata', 'boot_mac'],
        }),
      );
    }
    byMac.set(mac, name);
  }
}
