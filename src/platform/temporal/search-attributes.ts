import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../../workflows/protocol.ts';
import type { Logger } from '../telemetry/log.ts';

type TypeInProtocol = (typeof SEARCH_ATTRIBUTES)[keyof typeof SEARCH_ATTRIBUTES];

/** Per type: its name in Temporal's CLI, and its number in `temporal.api.enums.v1.IndexedValueType`. */
const types = {
  KEYWORD: { name: 'Keyword', number: 2 },
  INT: { name: 'Int', number: 3 },
} as const satisfies Record<TypeInProtocol, { name: string; number: number }>;

interface SearchAttribute {
  readonly name: string;
  /** Its name in Temporal's CLI. */
  readonly type: string;
  /** Its number in Temporal's API. */
  readonly typeNumber: number;
}

/** The custom search attributes of runs, for filtering lists in Temporal's CLI and Web UI. */
export const searchAttributes: readonly SearchAttribute[] = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => ({
  name,
  type: types[type].name,
  typeNumber: types[type].number,
}));

/** Search attributes that runs cannot set. */
interface UnusableAttributes {
  readonly names: readonly string[];
  readonly problem: string;
  /** A shell command that repairs it, for someone with permission. */
  readonly command: string;
}

/** The search attributes of a namespace. Runs work without them; only filters of lists do not. */
interface SearchAttributeState {
  /** Runs may set these. An attribute that is absent or of another type would fail every workflow task that sets it. */
  readonly usable: readonly string[];
  /** Added just now. */
  readonly added: readonly string[];
  /** Absent, or the server did not list them. */
  readonly missing?: UnusableAttributes;
  /** They exist with another type, which cannot be changed in place. */
  readonly mistyped?: UnusableAttributes;
}

/** Checks which of our search attributes a namespace has, without changes. */
export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<SearchAttributeState> {
  return await settle(connection, namespace, 'look');
}

/** Adds the missing ones, if the server permits it. */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<SearchAttributeState> {
  return await settle(connection, namespace, 'add');
}

/** How long an attribute may be absent that someone removed: until then, runs that set it are blocked. */
const REPAIR_MS = 20_000;

/**
 * Adds missing ones, now and whenever they are removed later: a run that sets an absent attribute is blocked until it
 * exists again.
 *
 * @returns `usable`: which ones a run may set now
 */
export async function keepSearchAttributes(
  connection: Connection,
  namespace: string,
  log: Pick<Logger, 'warn'>,
  everyMs = REPAIR_MS,
): Promise<{ readonly usable: () => Promise<readonly string[]>; readonly stop: () => void }> {
  const { missing, mistyped } = await ensureSearchAttributes(connection, namespace);
  if (missing) log.warn(missing, 'search attributes are absent: runs work, but lists have fewer filters');
  if (mistyped) log.warn(mistyped, 'search attributes have another type and are not used');
  const addRemoved = async (): Promise<void> => {
    const { added } = await ensureSearchAttributes(connection, namespace);
    if (added.length > 0)
      log.warn(
        { added },
        'search attributes had been removed, which blocked runs that set them. They were added again',
      );
  };
  const repair = setInterval(() => void addRemoved(), everyMs);
  repair.unref();
  return {
    usable: async () => (await checkSearchAttributes(connection, namespace)).usable,
    stop: () => clearInterval(repair),
  };
}

async function settle(
  connection: Connection,
  namespace: string,
  effort: 'look' | 'add',
): Promise<SearchAttributeState> {
  let there: Readonly<Record<string, number>>;
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    there = customAttributes ?? {};
  } catch (error) {
    return { usable: [], added: [], missing: missing(searchAttributes, namespace, messageOf(error)) };
  }
  const usable = searchAttributes.filter(({ name, typeNumber }) => there[name] === typeNumber);
  const absent = searchAttributes.filter(({ name }) => there[name] == null);
  const wrong = searchAttributes.filter((one) => !usable.includes(one) && !absent.includes(one));
  const state = {
    usable: usable.map(nameOf),
    added: [],
    ...(wrong.length === 0 ? {} : { mistyped: mistyped(wrong, namespace) }),
  };
  if (absent.length === 0) return state;
  if (effort === 'look') return { ...state, missing: missing(absent, namespace, 'removed, or never added') };
  try {
    const types = Object.fromEntries(absent.map(({ name, typeNumber }) => [name, typeNumber]));
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: types });
    const added = absent.map(nameOf);
    return { ...state, usable: [...state.usable, ...added], added };
  } catch (error) {
    return { ...state, missing: missing(absent, namespace, messageOf(error)) };
  }
}

const nameOf = ({ name }: SearchAttribute): string => name;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const missing = (absent: readonly SearchAttribute[], namespace: string, problem: string): UnusableAttributes => ({
  names: absent.map(nameOf),
  problem,
  command: creation(absent, namespace),
});

const mistyped = (wrong: readonly SearchAttribute[], namespace: string): UnusableAttributes => ({
  names: wrong.map(nameOf),
  problem: `wrong type: ${wrong.map(({ name, type }) => `${name} must be ${type}`).join(', ')}`,
  command: `temporal operator search-attribute remove --namespace ${namespace} --yes ${wrong
    .map(({ name }) => `--name ${name}`)
    .join(' ')} && ${creation(wrong, namespace)}`,
});

const creation = (attributes: readonly SearchAttribute[], namespace: string): string =>
  `temporal operator search-attribute create --namespace ${namespace} ${attributes
    .map(({ name, type }) => `--name ${name} --type ${type}`)
    .join(' ')}`;
