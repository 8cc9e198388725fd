import { StoreError } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';

/** The series that settings or the latest documents of any site name; only those of the settings while the store is unreachable. */
export async function wantedSeries({
  store,
  distroSeries,
}: Pick<OpsDependencies, 'store' | 'distroSeries'>): Promise<readonly string[]> {
  const found = new Set(distroSeries === undefined ? [] : [distroSeries]);
  try {
    for (const { name } of await store.sites.list()) {
      for (const series of await seriesOf(store, name)) found.add(series);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
  return [...found];
}

async function seriesOf(store: OpsDependencies['store'], name: string): Promise<readonly string[]> {
  try {
    const { site } = await store.sites.resolvedRevision(name, 'latest');
    return (site?.nodes ?? []).flatMap((node) => node.distro_series ?? []);
  } catch (error) {
    // A site without documents, or one that was just deleted.
    if (error instanceof StoreError && error.failure.kind === 'not-found') return [];
    throw error;
  }
}
