import { isMapping } from '../../core/data/plain-value.ts';
import type { SealedDocument } from '../rendering/render-documents.ts';
import type { YamlDocument } from '../yaml-document.ts';

const MANAGED_SCHEMA = /^pegleg\/PeglegManagedDocument\/v\d+$/;

type Managed =
  | { readonly kind: 'plain'; readonly yaml: YamlDocument }
  | { readonly kind: 'sealed'; readonly document: SealedDocument };

/** The document inside pegleg's wrapper, which keeps generated and encrypted secrets; undefined for any other document. */
export function unwrapManaged(yaml: YamlDocument): Managed | undefined {
  const { value } = yaml;
  if (!isMapping(value) || !MANAGED_SCHEMA.test(String(value.schema))) return undefined;
  const inner = isMapping(value.data) ? value.data.managedDocument : undefined;
  if (!isMapping(inner)) return undefined;
  const { schema, metadata } = inner;
  const name = isMapping(metadata) ? metadata.name : undefined;
  if (typeof schema !== 'string' || typeof name !== 'string') return undefined;
  const at = ['data', 'managedDocument'];
  const unwrapped: YamlDocument = { ...yaml, value: inner, place: (path, part) => yaml.place([...at, ...path], part) };
  if (!isMapping(value.data) || value.data.encrypted === undefined) return { kind: 'plain', yaml: unwrapped };
  const reason = `${schema} '${name}' is encrypted by pegleg`;
  const hint = 'Decrypt the secrets of the site first: pegleg site secrets decrypt.';
  return { kind: 'sealed', document: { yaml: unwrapped, schema, name, reason, hint } };
}
