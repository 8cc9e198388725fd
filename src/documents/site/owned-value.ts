import type { ValuePath } from '../../core/data/plain-value.ts';
import type { SiteDocument } from './site-document.ts';

/** A value with the document that gave it last, for the places of problems. */
export interface Owned<Value> {
  readonly value: Value;
  readonly document: SiteDocument;
  readonly path: ValuePath;
}

/** Reports a problem at a place within an owned value. */
export type ReportLayout = (
  at: Pick<Owned<unknown>, 'document' | 'path'>,
  problem: {
    readonly severity?: 'error' | 'warning';
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly under?: ValuePath;
  },
) => void;
