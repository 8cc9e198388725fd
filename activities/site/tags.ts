import {
  holdOf,
  isInUse,
  isMaasFailure,
  type KnownMachine,
  type MachineContext,
  type MachineOutcome,
  type MachineSummary,
  machinesNamed,
} from '@sitewright/maas';
import { compareKeys } from '../../src/core/text/text.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';
import type { Store } from '../../src/store/index.ts';

const TAG_NAME = /^[\w-]+$/;

/** Tags that earlier documents gave a node and these do not. */
export const removedTags = (node: ResolvedNode, before: ResolvedNode | undefined): readonly string[] =>
  (before?.tags ?? []).filter((tag) => !node.tags.includes(tag));

interface GivenTags {
  readonly givenTags: Pick<Store['givenTags'], 'list' | 'get' | 'put'>;
}

interface TaggedNodes {
  readonly site: string;
  readonly nodes: readonly ResolvedNode[];
  readonly known: ReadonlyMap<string, KnownMachine>;
  /** Nodes whose machines the run takes over. */
  readonly adopt?: readonly string[] | undefined;
}

/**
 * Adds the tags of the documents to the machines in MAAS, and removes those that we gave them and the documents no longer name,
 * with one call per tag. Tags of people stay, and so do machines that others use. Tags help people and other tools find machines. No
 * deployment depends on them, so a refused tag becomes a warning.
 *
 * @param acting called before each change; if it rejects, the change is not made
 */
export async function syncTags(
  store: GivenTags,
  maas: MachineContext,
  { site, nodes, known, adopt }: TaggedNodes,
  acting: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<{ warnings: string[]; changes: string[] }> {
  const me = await maas.client.username(signal);
  const given = await store.givenTags.list(site);
  const change = new TagChange(site, given);
  await Promise.all(
    nodes.map(async (node) => {
      const found = await machinesNamed(maas, node.name, known.get(node.name), signal);
      const [machine] = found;
      if (!machine || found.length > 1) return;
      const isOthers = isInUse(machine.status) && holdOf(machine, { me, site }) !== 'ours';
      if (isOthers && !adopt?.includes(node.name)) return;
      change.add(machine, node.tags);
      const gone = (given.get(machine.systemId) ?? []).filter((tag) => !node.tags.includes(tag));
      change.remove(machine, gone);
    }),
  );
  return change.carryOut(store, maas, acting, signal);
}

/** Puts tags that we gave a machine on it again, after its release in the course of its deployment. */
export async function restoreTags(
  store: GivenTags,
  maas: MachineContext,
  site: string,
  { tags }: ResolvedNode,
  machine: MachineSummary,
  acting: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<{ warnings: string[]; changes: string[] }> {
  const given = await store.givenTags.get(site, machine.systemId);
  const change = new TagChange(site, new Map([[machine.systemId, given]]));
  const ours = tags.filter((tag) => given.includes(tag));
  change.add(machine, ours);
  return change.carryOut(store, maas, acting, signal);
}

/** After a release. Tags that MAAS refused to remove are tried again with the next one. */
export async function forgetTags(
  { givenTags }: { readonly givenTags: Pick<Store['givenTags'], 'forget'> },
  site: string,
  { machine, warnings }: MachineOutcome & { readonly ok: true },
): Promise<void> {
  if (!warnings.some(({ code }) => code === 'tags-kept')) await givenTags.forget(site, machine.systemId);
}

type Tagged = Pick<MachineSummary, 'systemId' | 'tags'>;

/** Changes of tags, and the record of which ones are ours. */
class TagChange {
  readonly #site: string;
  readonly #ours: Map<string, Set<string>>;
  readonly #changed = new Set<string>();
  readonly #calls = new Map<string, { readonly add: string[]; readonly remove: string[] }>();

  constructor(site: string, given: ReadonlyMap<string, readonly string[]>) {
    this.#site = site;
    this.#ours = new Map([...given].map(([systemId, tags]) => [systemId, new Set(tags)]));
  }

  add({ systemId, tags }: Tagged, wanted: readonly string[]): void {
    for (const tag of wanted) if (!tags.includes(tag)) this.#callOf(tag).add.push(systemId);
  }

  remove({ systemId, tags }: Tagged, gone: readonly string[]): void {
    for (const tag of gone) {
      if (tags.includes(tag)) this.#callOf(tag).remove.push(systemId);
      else this.#own(systemId, tag, false);
    }
  }

  /** A tag is recorded as ours before it is put on a machine: a process that dies in between leaves none that nobody removes. */
  async carryOut(
    { givenTags }: GivenTags,
    { client: { inventory } }: MachineContext,
    acting: () => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<{ warnings: string[]; changes: string[] }> {
    const warnings: string[] = [];
    const changes: string[] = [];
    const machines = (ids: readonly string[]) => `${ids.length} ${ids.length === 1 ? 'machine' : 'machines'} in MAAS`;
    const calls = [...this.#calls].sort(compareKeys);
    const possible = calls.filter(([tag]) => TAG_NAME.test(tag));
    for (const [tag] of calls.filter(([name]) => !TAG_NAME.test(name)))
      warnings.push(`tag ${tag} was not set in MAAS: names there have letters, digits, _ and - only`);
    for (const [tag, { add }] of possible) for (const systemId of add) this.#own(systemId, tag, true);
    await this.#record(givenTags);
    for (const [tag, call] of possible) {
      const { add, remove } = call;
      await acting();
      try {
        if (add.length > 0) await inventory.ensureTag(tag, 'made by Sitewright', signal);
        await inventory.changeTag(tag, call, signal);
        if (add.length > 0) changes.push(`tag ${tag} was added to ${machines(add)}`);
        if (remove.length > 0) changes.push(`tag ${tag} was removed from ${machines(remove)}`);
        for (const systemId of remove) this.#own(systemId, tag, false);
      } catch (error) {
        if (!isMaasFailure(error, 'forbidden', 'invalid', 'not-found', 'no-such-endpoint', 'conflict-state'))
          throw error;
        warnings.push(`tag ${tag} was not set in MAAS: ${error.message}`);
        for (const systemId of add) this.#own(systemId, tag, false);
      }
    }
    await this.#record(givenTags);
    return { warnings, changes };
  }

  #callOf(tag: string) {
    const call = this.#calls.get(tag) ?? { add: [], remove: [] };
    this.#calls.set(tag, call);
    return call;
  }

  #own(systemId: string, tag: string, isOurs: boolean): void {
    const ours = this.#ours.get(systemId) ?? new Set();
    this.#ours.set(systemId, ours);
    if (ours.has(tag) === isOurs) return;
    if (isOurs) ours.add(tag);
    else ours.delete(tag);
    this.#changed.add(systemId);
  }

  async #record(givenTags: Pick<Store['givenTags'], 'put'>): Promise<void> {
    if (this.#changed.size === 0) return;
    const changed = [...this.#changed].map((systemId) => [systemId, [...this.#ours.get(systemId)!].sort()] as const);
    await givenTags.put(this.#site, new Map(changed));
    this.#changed.clear();
  }
}
