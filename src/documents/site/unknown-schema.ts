import { didYouMean, nearestNames } from '../../core/text/did-you-mean.ts';
import {
  CONFIGURATION_SCHEMA,
  HOST_PROFILE_SCHEMA,
  KNOWN_SCHEMAS,
  type KnownSchema,
  LIMITS_SCHEMA,
  NODE_SCHEMA,
  SCHEMAS_OF_SITES,
  STRATEGY_SCHEMA,
} from '../schemas/envelope.ts';

/** A schema that nothing reads although its author meant one that a deployment needs. */
export interface UnknownSchema {
  /** The schema that was meant, if there is no doubt. */
  readonly meant?: KnownSchema;
  /** What the document would have no effect on. */
  readonly loses: string;
  readonly hint: string;
}

/**
 * Whether a schema is neither one of those that a deployment reads, nor of another program, whose documents are nobody's mistake:
 * it begins as Drydock's or Shipyard's, has the kind of one of theirs, or is one but for two typing errors.
 */
export function unknownSchema(schema: string): UnknownSchema | undefined {
  if (SCHEMAS_OF_SITES.includes(schema)) return undefined;
  const ofKind = KNOWN_SCHEMAS.filter((known) => isSameKind(schema, known));
  const near = ofKind.length > 0 ? ofKind : nearestNames(schema, KNOWN_SCHEMAS, 2);
  const [beginning] = schema.split('/');
  if (near.length === 0 && !BEGINNINGS.has(beginning!.toLowerCase())) return undefined;
  const meant = near.length === 1 ? (near[0] as KnownSchema) : undefined;
  return {
    ...(meant && { meant }),
    loses: LOST[meant ?? ''] ?? 'it would have no effect',
    hint:
      meant === undefined
        ? (didYouMean(schema, SCHEMAS_OF_SITES, 3) ?? `The schemas of sites: ${SCHEMAS_OF_SITES.join(', ')}.`)
        : `Write 'schema: ${meant}', or take the document out of the site.`,
  };
}

const BEGINNINGS: ReadonlySet<string> = new Set(SCHEMAS_OF_SITES.map((schema) => schema.split('/')[0]!));

const LOST: Readonly<Record<string, string>> = {
  [NODE_SCHEMA]: 'its machine would not be deployed',
  [STRATEGY_SCHEMA]: 'its groups would not count',
  [CONFIGURATION_SCHEMA]: 'its settings would not count',
  [LIMITS_SCHEMA]: 'nothing would limit the changes of its machines',
  [HOST_PROFILE_SCHEMA]: 'nodes would inherit nothing from it',
};

/** Kinds that mean something outside Drydock, too. */
const COMMON_KINDS: ReadonlySet<string> = new Set(['network', 'networklink', 'check']);

/** Whether a schema is a known one but for its version, spelling and, where the kind is a name of its own, its beginning. */
function isSameKind(schema: string, known: KnownSchema): boolean {
  const [beginning, kind] = known.split('/').map(plain) as [string, string];
  const parts = schema.split('/').map(plain);
  if (!parts.includes(kind)) return false;
  return !COMMON_KINDS.has(kind) || parts.length === 1 || parts.includes(beginning);
}

const plain = (part: string): string =>
  part
    .toLowerCase()
    .replaceAll(/[-_ .]/g, '')
    .replace(/s$/, '');
