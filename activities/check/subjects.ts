import { machinesNamed } from '@sitewright/maas';
import { type Check, textsOf } from '../../src/core/checks/check.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { CheckSubject } from './questions.ts';

/** One subject a node, or one for all. */
export async function subjectsOf(
  deps: ActivityDependencies,
  site: string,
  check: Check,
  nodes: readonly (ResolvedNode | undefined)[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly CheckSubject[]> {
  if (nodes === undefined) return [{ site: { name: site } }];
  const readsAddress = Object.values(textsOf(check.probe)).some(
    (text) => typeof text !== 'string' && text.yaql_exp.includes('address'),
  );
  const addresses = readsAddress ? await addressesOf(deps, site, nodes, signal) : new Map<string, string>();
  return nodes.map((node) => ({
    site: { name: site },
    ...(node && {
      node: {
        name: node.name,
        address: addresses.get(node.name) ?? deps.rehearsedAddress ?? null,
        ...{ rack: node.rack, tags: node.tags, labels: node.labels },
      },
    }),
  }));
}

/** The addresses of machines, as MAAS has them. */
async function addressesOf(
  { maas: maasOf, store }: ActivityDependencies,
  site: string,
  nodes: readonly (ResolvedNode | undefined)[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const maas = maasOf();
  const known = new Map((await store.deployedMachines.list(site)).map((machine) => [machine.node, machine]));
  const found = await Promise.all(
    nodes.map(async (node) => {
      if (node === undefined) return [];
      const machines = await machinesNamed(maas, node.name, known.get(node.name), signal);
      const [address] = machines.length === 1 ? machines[0]!.ipAddresses : [];
      return address === undefined ? [] : [[node.name, address] as const];
    }),
  );
  return new Map(found.flat());
}
