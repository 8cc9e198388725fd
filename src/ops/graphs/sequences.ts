import { given } from '../../core/data/given.ts';
import type { SequenceRecord } from '../../store/index.ts';
import { StoreError } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';

interface NewSequence {
  readonly name: string;
  readonly release: number;
  readonly graphs: readonly { readonly type: string }[];
}

type SequenceChange = Partial<Omit<NewSequence, 'release'>>;

/** Graph types to run one after another, by release. @throws `not-found`, `conflict` in Fuel's terms. */
export class SequenceOperations extends Service {
  async list({
    release,
    cluster,
  }: {
    readonly release?: number;
    readonly cluster?: number;
  }): Promise<readonly SequenceRecord[]> {
    if (release !== undefined) await this.store.releases.get(release);
    if (cluster !== undefined) await this.store.clusters.brief(cluster);
    return this.store.sequences.list({
      ...given({ releaseId: release, clusterId: cluster }),
    });
  }
  get(id: number): Promise<SequenceRecord> {
    return this.store.sequences.get(id);
  }
  async create({ name, release, graphs }: NewSequence, actor: string): Promise<SequenceRecord> {
    refuseRepeated(graphs);
    const sequence = await this.store.sequences
      .create({ name, releaseId: release, graphs })
      .catch((error: unknown) => Promise.reject(nameTaken(error, name, release)));
    await this.audit(actor, 'sequence.create', `sequence/${sequence.id}`);
    return sequence;
  }
  async update(id: number, change: SequenceChange, actor: string): Promise<SequenceRecord> {
    refuseRepeated(change.graphs ?? []);
    const { releaseId, name } = await this.store.sequences.get(id);
    const sequence = await this.store.sequences
      .update(id, change)
      .catch((error: unknown) => Promise.reject(nameTaken(error, change.name ?? name, releaseId)));
    await this.audit(actor, 'sequence.update', `sequence/${id}`);
    return sequence;
  }
  async delete(id: number, actor: string): Promise<void> {
    await this.store.sequences.delete(id);
    await this.audit(actor, 'sequence.delete', `sequence/${id}`);
  }
}

/** Refuses sequences that no run could execute. */
function refuseRepeated(graphs: NewSequence['graphs']): void {
  const types = graphs.map(({ type }) => type);
  const at = types.findIndex((type, index) => types.indexOf(type) !== index);
  if (at < 0) return;
  const message = `graphs names ${types[at]} twice, but a run executes a type once`;
  throw problem('invalid', message, {
    hint: 'Remove one, or create two sequences.',
    errors: [{ severity: 'error', code: 'sequence.type-twice', message, path: `body.graphs[${at}]` }],
  });
}

const nameTaken = (error: unknown, name: string, release: number): unknown =>
  error instanceof StoreError && error.failure.kind === 'conflict'
    ? problem('conflict', `Sequence with name "${name}" already exist for release ${release}.`, {
        hint: 'Choose another name, or change the existing one.',
      })
    : error;
