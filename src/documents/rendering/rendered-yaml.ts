import type { ValuePath } from '../../core/data/plain-value.ts';
import type { YamlDocument } from '../yaml-document.ts';
import type { RenderedDocument } from './render-documents.ts';

/** A rendered document as others read it. The places of its data are those of the documents that gave them. */
export function renderedYaml({ source, data }: Pick<RenderedDocument, 'source' | 'data'>): YamlDocument {
  const { yaml, schema } = source;
  if (data === source.data) return yaml;
  const { metadata } = yaml.value as { readonly metadata: unknown };
  const origin = (path: ValuePath): { readonly yaml: YamlDocument; readonly path: ValuePath } => {
    const [first, ...rest] = path;
    return first === 'data' ? data.originOf(rest) : { yaml, path };
  };
  return {
    ...yaml,
    value: { schema, metadata, data: data.value },
    place: (path, part) => {
      const at = origin(path);
      return at.yaml.place(at.path, part);
    },
    origin,
  };
}
