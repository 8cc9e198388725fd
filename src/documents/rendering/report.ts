import type { Finding } from '../diagnostics/place-problem.ts';
import type { LayeredDocument } from './layered-document.ts';

/** Reports a problem of a document. */
export type ReportRendering = (document: LayeredDocument, finding: Finding) => void;

/** What keeps one document from being rendered. */
export class RenderingError extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.message);
    this.finding = finding;
  }
}
