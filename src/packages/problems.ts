import { printPath, type ValuePath } from '../core/data/plain-value.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { type DataNode, writtenKey } from '../documents/reader/data-node.ts';
import { locate, type SourceRange, startOf } from '../documents/reader/source-text.ts';

/** A finding about a package; it always has a file and a line. */
export type PackageDiagnostic = Diagnostic & Required<Pick<Diagnostic, 'file' | 'line' | 'path'>>;

/** As the file has its keys: see `keyName`. */
export const printNodePath = (path: ValuePath): string =>
  printPath(path.map((step) => (typeof step === 'string' ? writtenKey(step) : step)));

export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly severity?: 'error' | 'warning';
}

/** Limit of listed findings of one severity; no one reads more, and aliases can make millions of one. */
const MAX_FINDINGS = 1000;

/** Collects findings with their places, in the order they were found. */
export class Problems {
  readonly #list: PackageDiagnostic[] = [];
  readonly #counts = { error: 0, warning: 0, info: 0 };

  get list(): readonly PackageDiagnostic[] {
    return this.#list;
  }

  at(where: DataNode | SourceRange, path: ValuePath, finding: Finding): void {
    const { file, line, column } = locate(where);
    const { severity = 'error', code, message, hint } = finding;
    this.add({
      severity,
      code,
      message,
      ...(hint !== undefined && { hint }),
      file,
      line,
      column,
      path: printNodePath(path),
      ...('kind' in where && isScalar(where) && { text: String(where.value).slice(0, 200) }),
    });
  }

  /** Adds a finding about a whole file, or a missing one. */
  inFile(file: string, path: ValuePath, finding: Finding): void {
    this.at(startOf(file), path, finding);
  }

  /** A separate empty list, for findings that are filtered before they are added. */
  separate(): Problems {
    return new Problems();
  }

  add(diagnostic: PackageDiagnostic): void {
    const { severity, file, line, column, path } = diagnostic;
    const count = ++this.#counts[severity];
    if (count <= MAX_FINDINGS) this.#list.push(diagnostic);
    if (count !== MAX_FINDINGS + 1) return;
    const message = `there are more than ${MAX_FINDINGS} ${severity}s; the rest are not listed`;
    this.#list.push({
      severity,
      code: 'package.too-many-findings',
      message,
      hint: 'Correct some and check again.',
      file,
      line,
      ...(column !== undefined && { column }),
      path,
    });
  }
}

const isScalar = (node: DataNode): node is DataNode & { value: unknown } =>
  node.kind !== 'list' && node.kind !== 'mapping' && node.kind !== 'null';
