import type { LayeringAction } from '../schemas/layered-document.ts';
import { changeAll, createAt, findAll, type PathStep, readPath } from './json-path.ts';
import { type LayeredDocument, title } from './layered-document.ts';
import { RenderingError } from './report.ts';
import type { Traced } from './traced.ts';

/** The data of a parent with the actions of its child, in their order; the child's side is always its own data. */
export function layerData(document: LayeredDocument, parent: LayeredDocument, inherited: Traced): Traced {
  return document.actions.reduce((data, action, index) => {
    const fail = (message: string, hint: string, code = 'rendering.missing-key'): RenderingError =>
      new RenderingError({
        code,
        message: `${title(document)}, action ${index + 1} (${action.method} ${action.path}): ${message}`,
        hint,
        path: ['metadata', 'layeringDefinition', 'actions', index, 'path'],
      });
    const path = pathOf(action);
    if (path === undefined)
      throw fail(
        `'${action.path}' is not a path`,
        'Write a path such as .a.b, .list[0] or .: all data.',
        'rendering.format',
      );
    return action.method === 'delete'
      ? remove(data, path, parent, fail)
      : put(data, document.data, path, action.method === 'merge', parent, fail);
  }, inherited);
}

/** The path of an action. It is within the data: a first step `.data` only says so. */
function pathOf({ path: text }: LayeringAction): readonly PathStep[] | undefined {
  const path = readPath(text);
  return path?.[0] === 'data' && /^\$?\.data/.test(text) ? path.slice(1) : path;
}

type Fail = (message: string, hint: string, code?: string) => RenderingError;

function remove(data: Traced, path: readonly PathStep[], parent: LayeredDocument, fail: Fail): Traced {
  if (path.length === 0) return data.emptied();
  const found = findAll(data, path);
  if (found.length > 1) throw several(found.length, fail);
  if (found[0]?.value === undefined || found[0].value === null)
    throw fail(
      `there is nothing to delete in the data from ${title(parent)}`,
      'Correct the path, or remove the action.',
    );
  return changeAll(data, path, () => undefined) ?? data;
}

function put(
  data: Traced,
  own: Traced,
  path: readonly PathStep[],
  merges: boolean,
  parent: LayeredDocument,
  fail: Fail,
): Traced {
  const [mine, ...others] = findAll(own, path);
  const present = findAll(data, path);
  const count = Math.max(others.length + 1, present.length);
  if (count > 1) throw several(count, fail);
  if (!mine || mine.value === null)
    throw fail('its own data have nothing there', 'Add the value to its data, or remove the action.');
  const [theirs] = present;
  const value = merges && theirs ? merge(theirs, mine) : mine;
  const made = theirs ? changeAll(data, path, () => value) : createAt(data, path, value);
  if (made === undefined)
    throw fail(
      `the data from ${title(parent)} have another kind of value on the way there`,
      'Correct the path, or replace the value above it.',
    );
  return made;
}

const several = (count: number, fail: Fail): RenderingError =>
  fail(`the path matches ${count} values`, 'An action changes one place: write one action for each.');

/** Mappings are merged key by key; of anything else the child's value counts, null included. */
function merge(theirs: Traced, mine: Traced): Traced {
  const entries = theirs.entries();
  const changes = mine.entries();
  if (!entries || !changes) return mine;
  const merged = [...changes].map(([key, value]): [string, Traced] => {
    const below = entries.get(key);
    return [key, below ? merge(below, value) : value];
  });
  return theirs.withEntries(merged);
}
