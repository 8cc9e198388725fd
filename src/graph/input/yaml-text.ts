import type { ValuePath } from '../../core/plain-value.js';
import type { DataNode, ScalarNode } from '../../packages/data-node.js';
import { keyName } from '../../packages/data-node.js';
import { type PackageDiagnostic, Problems } from '../../packages/problems.js';
import { readYaml } from '../../packages/read-yaml.js';
import { Float } from '../../yaql/index.js';

import type { TextPlace } from './json-text.js';

export type YamlReading =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly warnings: readonly PackageDiagnostic[];
      /** Where the value at a path stands; as near above it as there is one. */
      readonly place: (path: ValuePath) => TextPlace;
    }
  | { readonly ok: false; readonly problems: readonly PackageDiagnostic[] };

/**
 * Reads one YAML document as people of the Fuel line write graphs: scalars as PyYAML reads them, no tags. Keys become
 * texts and dates their ISO text, as in the JSON such a file is uploaded as; `1.0` stays a float.
 */
export function readYamlText(text: string, file: string): YamlReading {
  const problems = new Problems();
  const root = readYaml(text, file, problems);
  const errors = problems.list.filter(({ severity }) => severity === 'error');
  if (root === undefined || errors.length > 0) return { ok: false, problems: problems.list };
  return {
    ok: true,
    value: plain(root, new Map()),
    warnings: problems.list,
    place: (path) => {
      const { line, column } = nearest(root, path).place;
      return { line, column };
    },
  };
}

/** Shared nodes stay shared: aliases can stand for far more than they take. */
function plain(node: DataNode, done: Map<DataNode, unknown>): unknown {
  const known = done.get(node);
  if (known !== undefined) return known;
  const value = convert(node, done);
  done.set(node, value);
  return value;
}

function convert(node: DataNode, done: Map<DataNode, unknown>): unknown {
  switch (node.kind) {
    case 'list':
      return node.items.map((item) => plain(item, done));
    case 'mapping': {
      const result: Record<string, unknown> = {};
      for (const { key, value } of node.entries.values()) {
        // defineProperty, for the key `__proto__` must be a key like any other.
        Object.defineProperty(result, textKey(key), {
          value: plain(value, done),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return result;
    }
    case 'float':
      return Number.isInteger(node.value) ? new Float(node.value as number) : node.value;
    default:
      return node.value;
  }
}

const textKey = (key: ScalarNode): string =>
  key.kind === 'float' && Number.isInteger(key.value) ? `${String(key.value)}.0` : String(key.value);

function nearest(root: DataNode, path: ValuePath): DataNode {
  let node = root;
  for (const step of path) {
    const next =
      node.kind === 'list'
        ? node.items[Number(step)]
        : node.kind === 'mapping'
          ? (
              node.entries.get(String(step)) ??
              [...node.entries.values()].find(({ key }) => keyName(key) !== step && textKey(key) === step)
            )?.value
          : undefined;
    if (next === undefined) return node;
    node = next;
  }
  return node;
}
