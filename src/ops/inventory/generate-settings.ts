import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../../store/index.ts';
import { isObject, objectOf } from './json-object.ts';

/** Dependencies of the generators of a release's settings. */
export interface GeneratorContext {
  /** Address of this service for nodes. */
  readonly masterIp: string;
}

interface ClusterSettings {
  /** Groups of settings that users see and change. */
  readonly editable: JsonObject;
  /** Passwords and keys generated once per cluster; the settings routes never show them. */
  readonly generated: JsonObject;
}

const PASSWORD_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A new cluster's settings from its release's `attributes_metadata`: generates a value for every `{generator,
 * generator_arg}` and copies the rest. An unknown generator is copied too, so that nothing of a release is lost.
 */
export function generateSettings(attributesMetadata: unknown, context: GeneratorContext): ClusterSettings {
  const { editable, generated } = objectOf(attributesMetadata);
  return {
    editable: withGenerated(objectOf(editable), context),
    generated: withGenerated(objectOf(generated), context),
  };
}

/** Groups of settings with generated values. */
export const withGenerated = (groups: JsonObject, context: GeneratorContext): JsonObject =>
  objectOf(fill(groups, context));

/** `type`: that of the setting whose value is filled. */
function fill(value: Json, context: GeneratorContext, type?: Json): Json {
  if (Array.isArray(value)) return value.map((one) => fill(one, context));
  if (!isObject(value)) return value;
  if (typeof value.generator === 'string')
    return generate(value.generator, value.generator_arg ?? null, context, type) ?? value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, fill(inner, context, key === 'value' ? value.type : undefined)]),
  );
}

function generate(
  generator: string,
  argument: Json,
  context: GeneratorContext,
  type: Json | undefined,
): Json | undefined {
  switch (generator) {
    case 'password':
      return Array.from(
        { length: wholeNumber(argument, 24) },
        () => PASSWORD_LETTERS[randomInt(PASSWORD_LETTERS.length)],
      ).join('');
    case 'hexstring': {
      const length = wholeNumber(argument, 32);
      return randomBytes(Math.ceil(length / 2))
        .toString('hex')
        .slice(0, length);
    }
    case 'uuid4':
      return randomUUID();
    case 'cephx_key':
      return cephxKey();
    case 'ip':
      return context.masterIp;
    case 'identical':
      return argument === null ? '' : argument;
    case 'from_settings':
      // The installation's own lists (DNS_UPSTREAM, NTP_UPSTREAM): it has none, so users fill them in.
      return typeof type === 'string' && type.endsWith('_list') ? [] : '';
    default:
      return undefined;
  }
}

function wholeNumber(argument: Json, otherwise: number): number {
  const number = Number(argument ?? otherwise);
  return Number.isInteger(number) && number > 0 && number <= 4096 ? number : otherwise;
}

/** A key in Ceph's format: type 1, creation time in seconds and nanoseconds, the length 16, and 16 random bytes. */
function cephxKey(): string {
  const head = Buffer.alloc(12);
  head.writeUInt16LE(1, 0);
  head.writeUInt32LE(Math.floor(Date.now() / 1000), 2);
  head.writeUInt32LE(0, 6);
  head.writeUInt16LE(16, 10);
  return Buffer.concat([head, randomBytes(16)]).toString('base64');
}
