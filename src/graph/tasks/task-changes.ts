import { createHash } from 'node:crypto';
import { canonicalJson } from '../../documents/canonical-json.ts';
import { withoutLarge } from '../digest.ts';
import type { OldStates } from '../fields/state.ts';
import type { MergedTask, Preparation } from './merge-layers.ts';

/** What a task does: when and where it runs is not among it. */
const DOING = ['type', 'parameters', 'secrets'] as const;

/** Which tasks are others than those that succeeded on a node, as their definition or the files of their package have changed. */
export class TaskChanges {
  readonly #old: OldStates | undefined;
  readonly #files = new Map<string, unknown>();
  readonly #digests = new Map<MergedTask, string>();

  /** @param preparations bring the files of packages, each order with the digest of its files */
  constructor(old: OldStates | undefined, preparations: readonly Preparation[] = []) {
    this.#old = old;
    for (const { layer, owner, tasks } of preparations)
      this.#files.set(
        ownerKey({ layer, owner }),
        tasks.map(({ task }) => digestOfFiles(task.parameters)),
      );
  }

  /** Kept with each success of the task. */
  digestOf(merged: MergedTask): string {
    let digest = this.#digests.get(merged);
    if (digest === undefined) {
      const doing = DOING.map((field) => withoutLarge(merged.task[field]) ?? null);
      const files = merged.prepares ? null : (this.#files.get(ownerKey(merged)) ?? null);
      digest = createHash('sha256')
        .update(canonicalJson([...doing, files]))
        .digest('hex')
        .slice(0, 16);
      this.#digests.set(merged, digest);
    }
    return digest;
  }

  /** False also where it never succeeded on the node. */
  hasChanged(merged: MergedTask, node: string): boolean {
    const nodes = this.#old?.digests?.get(merged.task.id);
    const ran = nodes?.get(node);
    return ran !== undefined && ran !== '' && ran !== this.digestOf(merged);
  }
}

const ownerKey = ({ layer, owner = '' }: Pick<MergedTask, 'layer'> & { readonly owner?: string | undefined }): string =>
  JSON.stringify([layer, owner]);

const digestOfFiles = (parameters: unknown): unknown =>
  (parameters as { readonly digest?: unknown } | undefined)?.digest ?? null;
