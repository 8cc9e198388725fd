import { StoreError } from '../../store/index.ts';
import { problem } from '../problem.ts';

/** Fuel's term for each thing that the store names differently. */
const TERMS: Readonly<Record<string, string>> = {
  cluster: 'Cluster',
  release: 'Release',
  plugin: 'Plugin',
  graph: 'DeploymentGraph',
  sequence: 'DeploymentSequence',
  transaction: 'Transaction',
  node: 'Node',
};

/** A `not-found` problem in the terms that Fuel's clients and users know. */
export const notFoundAs = (what: string, hint: string) =>
  problem('not-found', `${TERMS[what] ?? what} not found`, { hint });

type UseCase = (...args: readonly unknown[]) => unknown;

/** Wraps use cases so that the store's `not-found` failures use Fuel's terms. */
export function inFuelTerms<T extends object>(useCases: T): T {
  const wrapped = Object.entries<UseCase>(useCases as Record<string, UseCase>).map(([name, run]) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await run(...args);
      } catch (error) {
        if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
        throw notFoundAs(error.failure.what, `${error.failure.message} ${error.failure.hint}`);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}
