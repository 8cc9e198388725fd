import type { LabelEntry } from './strategy.ts';

interface Label {
  readonly key: string;
  readonly value: string;
}

type ParsedLabels =
  | { readonly ok: true; readonly labels: readonly Label[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads one entry of `node_labels`. A text needs exactly one colon with text on both sides (reference/shipyard §1).
 * A mapping gives one label per key (docs/explain/design.md#deployment-groups).
 */
export function parseLabelEntry(entry: LabelEntry): ParsedLabels {
  if (typeof entry === 'string') {
    const parts = entry.split(':').map((part) => part.trim());
    const [key, value] = parts;
    if (parts.length !== 2 || !key || !value) return { ok: false, problem: `label '${entry}' is not key:value` };
    return { ok: true, labels: [{ key, value }] };
  }
  const labels: Label[] = [];
  for (const [rawKey, rawValue] of Object.entries(entry)) {
    const key = rawKey.trim();
    const scalar = typeof rawValue === 'string' || typeof rawValue === 'number' || typeof rawValue === 'boolean';
    const value = scalar ? String(rawValue).trim() : '';
    if (!key || !value) return { ok: false, problem: `label '${rawKey}' needs one text value` };
    labels.push({ key, value });
  }
  if (labels.length === 0) return { ok: false, problem: 'a label is an empty mapping' };
  return { ok: true, labels };
}
