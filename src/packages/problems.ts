import type { Diagnostic } from '../core/diagnostic.js';
import { printPath, type ValuePath } from '../core/plain-value.js';
import { type DataNode, type Place, writtenKey } from '../documents/reader/data-node.js';

/** A finding about a package always has a file and a line: the reader must be able to go there. */
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

/** Findings of one severity that are listed; nobody reads more, and aliases can make millions of one. */
const MAX_FINDINGS = 1000;

/** Collects findings with their places, in the order they were found. */
export class Problems {
  readonly #list: PackageDiagnostic[] = [];
  readonly #counts = { error: 0, warning: 0, info: 0 };

  get list(): readonly PackageDiagnostic[] {
    return this.#list;
  }

  at(where: DataNode | Place, path: ValuePath, finding: Finding): void {
    const { file, line, column } = 'place' in where ? where.place : where;
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
      ...('place' in where && isScalar(where) && { text: String(where.value).slice(0, 200) }),
    });
  }

  /** About a file as a whole, or one that is not there. */
  inFile(file: string, path: ValuePath, finding: Finding): void {
    this.at({ file, line: 1, column: 1 }, path, finding);
  }

  /** An empty list beside this one, for findings that are to be judged before they are added. */
  quietly(): Problems {
    return new Problems();
  }

  add(diagnostic: PackageDiagnostic): void {
    const { severity, file, line, column, path } = diagnostic;
    const count = ++this.#counts[severity];
    if (count <= MAX_FINDINGS) this.#list.push(diagnostic);
    if (count !== MAX_FINDINGS + 1) return;
    const message = `there are more than ${MAX_FINDINGS} ${severity}s; those from here on are not listed`;
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
