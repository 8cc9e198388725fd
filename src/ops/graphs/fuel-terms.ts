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

/** The use cases of a subject, whose `not-found` failures from the store use Fuel's terms. */
export const inFuelTerms = <T extends object>(subject: T): T =>
  new Proxy(subject, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function'
        ? (...given: unknown[]) => inTerms(() => member.apply(target, given))
        : member;
    },
  });

async function inTerms(use: () => unknown): Promise<unknown> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
    throw notFoundAs(error.failure.what, `${error.failure.message} ${error.failure.hint}`);
  }
}
