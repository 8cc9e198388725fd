import type { DataNode } from '../documents/reader/data-node.ts';
import type { YamlDialect } from '../documents/reader/dialect.ts';
import { DEFAULT_READ_LIMITS } from '../documents/reader/limits.ts';
import { readYaml } from '../documents/reader/read-yaml.ts';
import { rangeOf, SourceText, startOf } from '../documents/reader/source-text.ts';
import { TREE } from '../documents/reader/yaml-builder.ts';
import type { YamlProblem } from '../documents/reader/yaml-problems.ts';
import type { Problems } from './problems.ts';

const CODES: Partial<Record<YamlProblem['kind'], string>> = {
  'alias-expansion': 'package.too-many-values',
  'collection-tag': 'package.collection-tag',
  'complex-key': 'package.complex-key',
  'duplicate-key': 'package.duplicate-key',
  'impossible-date': 'package.impossible-date',
  'merge-value': 'package.merge-value',
  'pairs-item': 'package.pairs-item',
  'recursive-alias': 'package.recursive-alias',
  'unknown-alias': 'package.unknown-alias',
  'unknown-tag': 'package.yaml-tag',
};

/** YAML as the original package tools read it. Tags are refused: those tools run code for some of them. */
const PACKAGE_YAML: YamlDialect = {
  limits: { ...DEFAULT_READ_LIMITS, maxValues: 200_000 },
  tags: 'collections',
  dates: true,
  tabs: false,
  duplicateKeys: 'last-wins',
  codeOf: (kind) => CODES[kind] ?? `yaml.${kind}`,
};

/** Reads one file: a single YAML document. Undefined if the file cannot be used; `problems` has the reason. */
export function readPackageYaml(text: string, file: string, problems: Problems): DataNode | undefined {
  const source = new SourceText(text, file);
  const read = readYaml(source, PACKAGE_YAML, TREE);
  // After a syntax error the rest may be misread: report only the first problem.
  const found = read.complete
    ? read.problems
    : read.problems.filter(({ severity }) => severity === 'error').slice(0, 1);
  for (const { line = 1, column = 1, ...problem } of found) problems.add({ ...problem, file, line, column, path: '' });
  const [document, second] = read.documents;
  if (second !== undefined) {
    problems.at(rangeOf(second.root), [], {
      code: 'package.several-documents',
      message: 'a second YAML document starts here',
      hint: 'A file of a package has one document: remove the --- line or split the file.',
    });
  }
  if (found.some(({ severity }) => severity === 'error') || second !== undefined) return undefined;
  return document?.root ?? { kind: 'null', value: null, ...startOf(file) };
}
