import { Float } from '@sitewright/yaql';
import { isMapping } from '../../core/data/plain-value.ts';
import { readInput } from '../shell/read-input.ts';

type Data = Readonly<Record<string, unknown>>;

/** The data of a cluster at one time. `node` null: without a node. */
export interface StateView {
  readonly common: Data;
  readonly node: Data | null;
  readonly nodes?: Readonly<Record<string, Data>>;
  readonly facts?: { readonly common: Data; readonly nodes: Readonly<Record<string, Data>> } | undefined;
}

/** The data of a cluster, now and when a task last succeeded (null: none did). */
export interface ClusterStates {
  readonly now: StateView;
  readonly before: StateView | null;
}

/** The data for expressions, from files. */
export interface InputStates {
  /** `undefined` without data. */
  readonly data: unknown;
  readonly node: Readonly<Record<string, unknown>> | null;
  readonly old: unknown;
}

export interface InputFlags {
  readonly data?: string;
  readonly old?: string;
  readonly node?: string;
  readonly cluster?: string;
}

/** A mistake in the call of the command or in one of its files; the message has the next step. */
export class InputProblem extends Error {}

/** The place of an error of YAML; its own text draws it over several lines. */
function placeIn(path: string, error: unknown): string {
  const { mark } = error as { readonly mark?: { readonly line: number; readonly column: number } };
  return mark === undefined ? path : `${path}:${mark.line + 1}:${mark.column + 1}`;
}

const reasonOf = (error: unknown): string => {
  const { reason, message } = error as { readonly reason?: string; readonly message: string };
  return reason ?? message;
};

/** Reads a JSON file (`1.0` stays a float) or, by its ending, a YAML file. */
async function readDataFile(path: string): Promise<unknown> {
  const text = await readInput(path);
  try {
    if (!/\.ya?ml$/i.test(path)) return fromLosslessJson(text);
    const { load } = await import('js-yaml');
    return load(text);
  } catch (error) {
    throw new InputProblem(`${placeIn(path, error)} is not JSON or YAML, despite its name: ${reasonOf(error)}`);
  }
}

/** Reads the states in the files of the flags. */
export async function readStates(flags: InputFlags): Promise<InputStates> {
  return {
    data: flags.data === undefined ? undefined : await readDataFile(flags.data),
    node: flags.node === undefined ? null : asObject(await readDataFile(flags.node), flags.node),
    old: flags.old === undefined ? null : await readDataFile(flags.old),
  };
}

function asObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (!isMapping(value)) throw new InputProblem(`${path} must contain an object: the data of a node is a dict`);
  return value as Readonly<Record<string, unknown>>;
}

/** The number as written, if `JSON.parse` of this Node version provides it. */
interface ReviverContext {
  readonly source?: string;
}

/**
 * Parses JSON without loss in numbers: `1.0` and `1e3` become floats, long integers bigint. If
 * this Node version does not provide the source of numbers, they are marked in the text beforehand.
 */
export function fromLosslessJson(text: string): unknown {
  const mark = '\u0001number:';
  const strings = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
  // Reject invalid JSON before replacing numbers with marked strings.
  JSON.parse(text);
  const marked = text.replace(strings, (token) =>
    token.startsWith('"') || isPlain(token) ? token : `"\\u0001number:${token}"`,
  );
  return JSON.parse(marked, (_key: string, value: unknown, _context?: ReviverContext) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const source = value.slice(mark.length);
    return /^-?\d+$/.test(source) ? BigInt(source) : new Float(Number(source));
  });
}

/** Numbers that need no mark: safe integers, and fractions that are not integers. */
function isPlain(token: string): boolean {
  const value = Number(token);
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && !Number.isInteger(value);
}
