import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../../workflows/protocol.js';

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

/** The state of the search attributes on a namespace. Runs work without them; only filters of lists do not. */
export type SearchAttributeState =
  | { readonly status: 'present' }
  | { readonly status: 'added'; readonly names: readonly string[] }
  | {
      readonly status: 'absent';
      readonly names: readonly string[];
      /** Why they could not be added or checked. */
      readonly problem: string;
      /** A shell command that adds them, for someone with permission. */
      readonly command: string;
    }
  | {
      /** They exist with another type: filters do not work, and the type cannot change in place. */
      readonly status: 'mistyped';
      readonly names: readonly string[];
      readonly problem: string;
    };

/** Checks which of our search attributes a namespace has, without changes. For `doctor`. */
export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<SearchAttributeState> {
  return await settle(connection, namespace, 'look');
}

/** Adds the missing ones. If the server forbids it, returns `absent` with a command for an administrator. */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<SearchAttributeState> {
  return await settle(connection, namespace, 'add');
}

async function settle(
  connection: Connection,
  namespace: string,
  effort: 'look' | 'add',
): Promise<SearchAttributeState> {
  let missing: readonly string[] = searchAttributes.map(({ name }) => name);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const wrong = searchAttributes.filter(({ name, typeNumber }) => {
      const there = customAttributes?.[name];
      return there != null && there !== typeNumber;
    });
    if (wrong.length > 0) {
      const wanted = wrong.map(({ name, type }) => `${name} must be ${type}`).join(', ');
      return { status: 'mistyped', names: wrong.map(({ name }) => name), problem: `Wrong type: ${wanted}.` };
    }
    missing = missing.filter((name) => customAttributes?.[name] == null);
    if (missing.length === 0) return { status: 'present' };
    if (effort === 'look') return absent(missing, namespace, 'They were never added.');
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: typesOf(missing) });
    return { status: 'added', names: missing };
  } catch (error) {
    return absent(missing, namespace, error instanceof Error ? error.message : String(error));
  }
}

function absent(names: readonly string[], namespace: string, problem: string): SearchAttributeState {
  const flags = searchAttributes
    .filter(({ name }) => names.includes(name))
    .map(({ name, type }) => `--name ${name} --type ${type}`);
  const command = `temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}`;
  return { status: 'absent', names, problem, command };
}

function typesOf(names: readonly string[]): Record<string, number> {
  const wanted = searchAttributes.filter(({ name }) => names.includes(name));
  return Object.fromEntries(wanted.map(({ name, typeNumber }) => [name, typeNumber]));
}
