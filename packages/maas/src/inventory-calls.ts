import { type MaasConnection, segment } from './connection.ts';
import { isMaasFailure, type MaasError } from './failure.ts';
import { asNumber, asObject, asText } from './lenient.ts';
import { unexpectedAnswer } from './machine-calls.ts';

interface Zone {
  readonly name: string;
  readonly description: string;
}
interface Pool {
  /** Pools are addressed by id, not by name. */
  readonly id: number;
  readonly name: string;
  readonly description: string;
}
export interface Tag {
  readonly name: string;
  readonly comment: string;
  /** XPath by which MAAS assigns the tag; `''` for manual tags. */
  readonly definition: string;
  /** Options for the kernels of its machines. */
  readonly kernelOptions: string;
}

/** Result of changing a tag's machines. */
interface TagChange {
  /** Ids MAAS found, whether or not they changed. */
  readonly added: number;
  readonly removed: number;
  /** Sent ids that MAAS does not know; it silently skips them. */
  readonly unknown: readonly string[];
}

/** Zones, pools and tags: `ensure` creates one if it is missing and is safe to repeat. */
export class InventoryCalls {
  readonly #maas: MaasConnection;

  constructor(maas: MaasConnection) {
    this.#maas = maas;
  }

  async zones(signal?: AbortSignal): Promise<readonly Zone[]> {
    return (await this.#maas.list('zones/', { signal })).map(parseZone);
  }

  async pools(signal?: AbortSignal): Promise<readonly Pool[]> {
    return (await this.#maas.list('resourcepools/', { signal })).map(parsePool);
  }

  async tags(signal?: AbortSignal): Promise<readonly Tag[]> {
    return (await this.#maas.list('tags/', { signal })).map(parseTag);
  }

  async pool(id: number, signal?: AbortSignal): Promise<Pool> {
    return parsePool(await this.#maas.object(`resourcepool/${segment(id)}/`, { signal }));
  }

  async findTag(name: string, signal?: AbortSignal): Promise<Tag | undefined> {
    try {
      return parseTag(await this.#maas.object(`tags/${segment(name)}/`, { signal }));
    } catch (error) {
      if (isMaasFailure(error, 'not-found')) return undefined;
      throw error;
    }
  }

  /** The tag of that name, created when missing; an existing comment is kept. */
  async ensureTag(name: string, comment = '', signal?: AbortSignal): Promise<Tag> {
    const found = await this.findTag(name, signal);
    if (found !== undefined) return found;
    try {
      return parseTag(await this.#maas.post('tags/', { form: { name, comment }, signal }));
    } catch (error) {
      // Someone else was quicker, or the answer was lost.
      const made = isMaasFailure(error, 'invalid') || isOutcomeUnknown(error) ? await this.findTag(name, signal) : null;
      if (!made) throw error;
      return made;
    }
  }

  /**
   * Adds and removes machines of a tag; idempotent. MAAS only counts the ids it
   * knows, so when the count falls short, each id is looked up and the unknown ones are returned.
   */
  async changeTag(
    name: string,
    change: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<TagChange> {
    const add = [...new Set(change.add ?? [])];
    const remove = [...new Set(change.remove ?? [])];
    if (add.length + remove.length === 0) return { added: 0, removed: 0, unknown: [] };
    const path = `tags/${segment(name)}/`;
    const answer = asObject(
      await this.#maas.post(path, { query: { op: 'update_nodes' }, form: { add, remove }, signal }),
    );
    const added = asNumber(answer.added);
    const removed = asNumber(answer.removed);
    if (added === undefined || removed === undefined) {
      throw unexpectedAnswer(`POST ${path}?op=update_nodes`, 'has no counts', true);
    }
    const unknown =
      added === add.length && removed === remove.length ? [] : await this.#unknownMachines([...add, ...remove], signal);
    return { added, removed, unknown };
  }

  async setKernelOptions(name: string, options: string, signal?: AbortSignal): Promise<void> {
    await this.#maas.put(`tags/${segment(name)}/`, { form: { kernel_opts: options }, signal });
  }

  /** Deletes a tag with its assignments; a missing one is fine. */
  async deleteTag(name: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#maas.delete(`tags/${segment(name)}/`, { signal });
    } catch (error) {
      if (!isMaasFailure(error, 'not-found')) throw error;
    }
  }

  /** Ids that MAAS has no machine for. */
  async #unknownMachines(ids: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
    const known = new Set<string>();
    for (let start = 0; start < ids.length; start += 100) {
      const query = { id: ids.slice(start, start + 100) };
      for (const node of await this.#maas.list('machines/', { query, signal }))
        known.add(asText(asObject(node).system_id));
    }
    return ids.filter((id) => !known.has(id));
  }
}

const isOutcomeUnknown = (error: unknown): boolean =>
  (error as Partial<MaasError> | undefined)?.failure?.outcomeUnknown === true;

function parseZone(value: unknown): Zone {
  const o = asObject(value);
  return { name: asText(o.name), description: asText(o.description) };
}

function parsePool(value: unknown): Pool {
  const o = asObject(value);
  return { id: asNumber(o.id) ?? -1, name: asText(o.name), description: asText(o.description) };
}

function parseTag(value: unknown): Tag {
  const o = asObject(value);
  return {
    name: asText(o.name),
    comment: asText(o.comment),
    definition: asText(o.definition),
    kernelOptions: asText(o.kernel_opts),
  };
}
