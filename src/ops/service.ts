import { given } from '../core/data/given.ts';
import type { Store } from '../store/index.ts';
import type { OpsDependencies, TemporalAccess } from './dependencies.ts';
import { type Reader, readerHere } from './reading/reader.ts';

/** The use cases of one subject, over what the process has. */
export abstract class Service {
  protected readonly deps: OpsDependencies;
  protected readonly store: Store;
  protected readonly temporal: TemporalAccess;
  protected readonly reader: Reader;

  constructor(deps: OpsDependencies) {
    this.deps = deps;
    this.store = deps.store;
    this.temporal = deps.temporal;
    this.reader = deps.reader ?? readerHere;
  }

  /** @param target as `node/7` */
  protected async audit(actor: string, action: string, target: string, details?: unknown): Promise<void> {
    await this.store.audit.append({ actor, action, target, ...given({ details }) });
  }
}
