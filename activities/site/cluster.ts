import type { MachineFacts } from '@sitewright/maas';
import { machinesOfSite } from '../../src/clusters/site-machines.ts';
import { hasSystem } from '../../src/core/node-system.ts';
import { type NodeRecord, type Store, StoreError } from '../../src/store/index.ts';

/** Statuses of nodes that have no system of ours yet. */
const WITHOUT_SYSTEM: ReadonlySet<string> = new Set(['discover', 'provisioning']);

/**
 * Marks machines of a site as provisioned in the inventory, so that graphs include their nodes. Adds unknown machines
 * for a future cluster. A node that was ready becomes `provisioned` only when it was really deployed again: then
 * everything on it must be done again.
 *
 * @param names node names in the site's documents
 * @param redeployed whether the machines were deployed again
 * @param facts what MAAS reports of them, where it was asked
 */
export async function markProvisioned(
  store: Store,
  site: string,
  names: readonly string[],
  redeployed: boolean,
  facts: ReadonlyMap<string, MachineFacts> = new Map(),
): Promise<void> {
  if (names.length === 0) return;
  const { known, members, machines, missing } = await machinesOfSite(store, site);
  const reported = new Map<number, MachineFacts>();
  for (const [name, found] of facts) for (const node of known.get(name) ?? []) reported.set(node.id, found);
  const all = new Set(names.flatMap((name) => known.get(name) ?? []).map((node) => node.id));
  const byId = new Map([...members, ...machines].map((node) => [node.id, node]));
  const needsMarking = (one: number): boolean => {
    const { pendingAddition, errorType, status } = byId.get(one)!;
    return redeployed || pendingAddition || errorType === 'provision' || WITHOUT_SYSTEM.has(status);
  };
  const changed = [...all].filter((one) => needsMarking(one) || reported.has(one));
  if (changed.length > 0) {
    const holders = await holdersOfMacs(store, [...reported.values()]);
    await store.nodes.updateMany(
      changed.map((one) => ({
        id: one,
        change: {
          ...(needsMarking(one) ? PROVISIONED : {}),
          ...(reported.has(one) ? asReported(reported.get(one)!, holders, byId.get(one)!) : {}),
        },
      })),
    );
  }
  for (const name of missing(names)) await addToInventory(store, site, name, facts.get(name));
}

/** Marks nodes whose machines were released: nothing can run there until they are deployed again. */
export async function markReleased(store: Store, site: string, names: readonly string[]): Promise<void> {
  const { known } = await machinesOfSite(store, site);
  // Of those that were bare before, someone may have said why.
  const inService = names.flatMap((name) => known.get(name) ?? []).filter(({ status }) => status !== 'discover');
  const ids = new Set(inService.map(({ id }) => id));
  if (ids.size === 0) return;
  await store.nodes.updateMany(
    [...ids].map((id) => ({ id, change: { status: 'discover', errorType: null, errorMsg: RELEASED } })),
  );
}

const RELEASED = 'Its machine was released, and has not been deployed since.';

/** Says of bare nodes, by name, why they are bare and what to do. The note goes with their next deployment. */
export async function noteBare(store: Store, site: string, notes: ReadonlyMap<string, string>): Promise<void> {
  if (notes.size === 0) return;
  const { known } = await machinesOfSite(store, site);
  const changes = new Map<number, { id: number; change: { errorMsg: string } }>();
  for (const [name, errorMsg] of notes)
    for (const { id, status } of known.get(name) ?? [])
      if (status === 'discover') changes.set(id, { id, change: { errorMsg } });
  if (changes.size > 0) await store.nodes.updateMany([...changes.values()]);
}

/** Says of nodes without a system, by name, why their deployment failed. Their next deployment takes it back. */
export async function noteFailed(store: Store, site: string, reasons: ReadonlyMap<string, string>): Promise<void> {
  if (reasons.size === 0) return;
  const { known } = await machinesOfSite(store, site);
  const changes = new Map<number, Parameters<Store['nodes']['updateMany']>[0][number]>();
  for (const [name, errorMsg] of reasons)
    for (const node of known.get(name) ?? [])
      if (!hasSystem(node)) changes.set(node.id, { id: node.id, change: { ...FAILED, errorMsg } });
  if (changes.size > 0) await store.nodes.updateMany([...changes.values()]);
}

/** The columns of a node that come from MAAS. A MAC that another node has stays there: MACs are unique. */
function asReported(facts: MachineFacts, holders: MacHolders, node?: NodeRecord) {
  const { ip, mac, manufacturer, platform, system, interfaces, disks } = facts;
  const isFree = mac !== null && (holders.get(mac) ?? node?.id) === node?.id;
  return {
    ...(ip === null ? {} : { ip }),
    ...(isFree ? { mac } : {}),
    ...(isNews(manufacturer, node?.manufacturer) ? { manufacturer } : {}),
    ...(isNews(platform, node?.platformName) ? { platformName: platform } : {}),
    ...(system === null ? {} : { osPlatform: system }),
    meta: { ...node?.meta, interfaces: interfaces.map(asJson), disks: disks.map(asJson) },
  };
}

/** MAAS' word for what it does not know replaces nothing. */
const isNews = (found: string | null, known: string | null | undefined): found is string =>
  found !== null && (found !== 'Unknown' || known == null);

/** The ids of nodes, by their MACs. */
type MacHolders = ReadonlyMap<string, number>;

async function holdersOfMacs(store: Store, facts: readonly MachineFacts[]): Promise<MacHolders> {
  const macs = facts.flatMap(({ mac }) => mac ?? []);
  if (macs.length === 0) return new Map();
  return new Map((await store.nodes.list({ macs })).flatMap(({ id, mac }) => (mac === null ? [] : [[mac, id]])));
}

const asJson = <Row extends object>(row: Row): { [Key in keyof Row]: Row[Key] } => ({ ...row });

async function addToInventory(
  store: Store,
  site: string,
  name: string,
  facts: MachineFacts | undefined,
): Promise<void> {
  try {
    await store.nodes.create({
      name,
      hostname: name,
      site,
      status: 'provisioned',
      online: true,
      ...(facts && asReported(facts, await holdersOfMacs(store, [facts]))),
    });
  } catch (error) {
    // Another try of the same call was faster.
    if (!(error instanceof StoreError && error.failure.kind === 'conflict')) throw error;
  }
}

const PROVISIONED = {
  status: 'provisioned',
  pendingAddition: false,
  online: true,
  errorType: null,
  errorMsg: null,
} as const;

/** Fuel's words for a machine that did not get its operating system. */
const FAILED = { status: 'error', errorType: 'provision' } as const;
