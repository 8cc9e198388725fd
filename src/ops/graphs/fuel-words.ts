import { StoreError } from '../../store/index.js';
import { problem } from '../problem.js';

/** What the store calls things, and Fuel's word for each where it is another. */
const WORDS: Readonly<Record<string, string>> = {
  cluster: 'Cluster',
  release: 'Release',
  plugin: 'Plugin',
  graph: 'DeploymentGraph',
  sequence: 'DeploymentSequence',
  transaction: 'Transaction',
  node: 'Node',
};

/** A thing that is not there, in the words that Fuel's clients and their users know. */
export const notFoundAs = (what: string, hint: string) =>
  problem('not-found', `${WORDS[what] ?? what} not found`, { hint });

type UseCase = (...args: readonly unknown[]) => unknown;

/** The same use cases; what the store does not find is told in Fuel's words. */
export function inFuelWords<T extends object>(useCases: T): T {
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
