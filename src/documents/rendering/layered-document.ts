import { isMapping } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { type Finding, placeProblem } from '../diagnostics/place-problem.ts';
import { checkSchema, DOCUMENT_WORDS, type SchemaProblem } from '../diagnostics/schema-problems.ts';
import {
  controlDocument,
  type LabelValue,
  type LayeringAction,
  layeredDocument,
  type Substitution,
} from '../schemas/layered-document.ts';
import type { YamlDocument } from '../yaml-document.ts';
import { Traced } from './traced.ts';

/** A document as its author wrote it, with all that layering and substitution need. */
export interface LayeredDocument {
  readonly yaml: YamlDocument;
  readonly schema: string;
  readonly name: string;
  readonly isControl: boolean;
  readonly layer: string | undefined;
  readonly isAbstract: boolean;
  readonly isReplacement: boolean;
  readonly isEncrypted: boolean;
  readonly labels: Readonly<Record<string, LabelValue>>;
  readonly selector: Readonly<Record<string, LabelValue>> | undefined;
  readonly actions: readonly LayeringAction[];
  readonly substitutions: readonly Substitution[];
  readonly data: Traced;
}

export interface RenderingProblem {
  /** The document that it keeps from being rendered; of a warning: the one that it is about. */
  readonly document: LayeredDocument | BrokenDocument;
  readonly diagnostic: Diagnostic;
  /** The document is read as it is all the same: only Deckhand refuses its form. */
  readonly isFormOnly?: boolean;
}

/** A document that cannot be layered; its name is known where it has one. */
export interface BrokenDocument {
  readonly yaml: YamlDocument;
  readonly schema: string;
  readonly name: string | undefined;
}

const FORM_WORDS = {
  ...DOCUMENT_WORDS,
  codes: {
    missing: 'rendering.format',
    'wrong-type': 'rendering.format',
    'wrong-value': 'rendering.format',
    unknown: 'rendering.format',
    more: 'rendering.format',
  },
};

/** Reads a document with a schema, and reports what Deckhand would refuse in it. */
export function readLayered(
  yaml: YamlDocument,
  schema: string,
  report: (problem: RenderingProblem) => void,
): LayeredDocument | BrokenDocument {
  const value = isMapping(yaml.value) ? yaml.value : {};
  const metadata = isMapping(value.metadata) ? value.metadata : {};
  const isControl = typeof metadata.schema === 'string' && metadata.schema.startsWith('metadata/Control/');
  const name = typeof metadata.name === 'string' ? metadata.name : undefined;
  const broken: BrokenDocument = { yaml, schema, name };
  const checked = checkSchema<unknown>(isControl ? controlDocument : layeredDocument, value, { words: FORM_WORDS });
  const problems = checked.ok ? [] : checked.problems;
  const stops = problems.filter((problem) => !isFormOnly(problem));
  for (const problem of problems) {
    const diagnostic = placeProblem(yaml, named(broken, problem));
    report({ document: broken, diagnostic, ...(isFormOnly(problem) && { isFormOnly: true }) });
  }
  if (stops.length > 0 || name === undefined) return broken;
  // Its parts that matter have passed the check.
  const { layeringDefinition: layering, ...own } = metadata as CheckedMetadata;
  return {
    yaml,
    schema,
    name,
    isControl,
    layer: isControl ? undefined : layering?.layer,
    isAbstract: !isControl && layering?.abstract === true,
    isReplacement: own.replacement === true,
    isEncrypted: own.storagePolicy === 'encrypted',
    labels: own.labels ?? {},
    selector: isControl ? undefined : layering?.parentSelector,
    actions: layering?.actions ?? [],
    substitutions: isControl ? [] : (own.substitutions ?? []),
    data: Traced.written(value.data ?? null, { yaml, path: ['data'] }),
  };
}

interface CheckedMetadata {
  readonly labels?: LayeredDocument['labels'];
  readonly replacement?: boolean;
  readonly storagePolicy?: string;
  readonly substitutions?: readonly Substitution[];
  readonly layeringDefinition?: {
    readonly layer?: string;
    readonly abstract?: boolean;
    readonly parentSelector?: LayeredDocument['selector'];
    readonly actions?: readonly LayeringAction[];
  };
}

/** What only says that a document is not complete for Deckhand, and leaves its meaning clear. */
function isFormOnly({ path: [top, key, ...rest], kind }: SchemaProblem): boolean {
  if (top === 'schema' || kind === 'unknown') return true;
  if (key === 'schema' || key === 'storagePolicy') return true;
  return key === 'layeringDefinition' && kind === 'missing' && (rest.length === 0 || rest[0] === 'layer');
}

const named = ({ schema, name }: BrokenDocument, problem: SchemaProblem): Finding => ({
  ...problem,
  message: `${schema} '${name ?? '(without a name)'}': ${problem.message}`,
});

export const isLayered = (document: LayeredDocument | BrokenDocument): document is LayeredDocument =>
  'data' in document;

/** `drydock/HostProfile/v1 'defaults' of layer global`. */
export const title = ({ schema, name, layer }: LayeredDocument): string =>
  `${schema} '${name}'${layer === undefined ? '' : ` of layer ${layer}`}`;
