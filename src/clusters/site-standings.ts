import { maintenanceText } from '../core/maintenance.ts';
import { hasSystem, outOfServiceOf } from '../core/node-system.ts';
import type { LimitedMachine } from '../core/permits/may-touch.ts';
import type { NodeRecord, StorePorts } from '../store/index.ts';
import { maintenanceOfSite } from './maintenance.ts';
import { machinesOfSite } from './site-machines.ts';

type Standing = Omit<LimitedMachine, 'rack'>;

/** How the machines of a site stand for the limits of changes, by their names in its documents. What is not known does not serve. */
export async function standingsOfSite(
  store: Pick<StorePorts, 'clusters' | 'nodes' | 'sites' | 'nodeMaintenance'>,
  site: string,
): Promise<(machine: string) => Standing> {
  const { known, machines } = await machinesOfSite(store, site);
  // A machine may be in a cluster that is not the site's.
  const elsewhere = new Map(machines.flatMap((node) => [node.hostname, node.name].map((name) => [name, node])));
  const kept = await maintenanceOfSite(store, site);
  return (machine) => {
    const note = kept.get(machine);
    if (note !== undefined) return { standing: 'out', why: maintenanceText(note) };
    const other = elsewhere.get(machine);
    const standings = (known.get(machine) ?? (other ? [other] : [])).map(standingOf);
    return standings.find(({ standing }) => standing === 'out') ?? standings[0] ?? UNKNOWN;
  };
}

const UNKNOWN: Standing = { standing: 'out', why: 'nothing is known of it' };

function standingOf(node: NodeRecord): Standing {
  const state = outOfServiceOf(node);
  if (state === 'never_deployed') return { standing: 'new' };
  if (state !== null) return { standing: 'out', why: state === 'failed' ? 'it has failed' : 'it is bare' };
  const isSilent = node.clusterId !== null && hasSystem(node) && !node.online;
  return isSilent ? { standing: 'out', why: 'its agent does not answer' } : { standing: 'in_service' };
}
