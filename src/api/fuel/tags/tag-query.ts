import type { TagQuery } from '../../../core/contracts/fuel/tags.ts';
import type { Diagnostic } from '../../../core/problems/diagnostic.ts';
import type { TagOwner, TagUpload } from '../../../ops/index.ts';
import { RequestError } from '../../problems/transport-problem.ts';
import { idsIn } from '../request-parts.ts';

const refuse = (message: string, hint: string, field: string): RequestError => {
  const error: Diagnostic = { severity: 'error', code: 'request.wrong-value', message, hint, path: `query.${field}` };
  return new RequestError({ code: 'invalid', message, hint, errors: [error] });
};

/** Quotes around a value, as the specification's examples have them. */
const unquoted = (text: string): string => /^(['"])(.*)\1$/.exec(text.trim())?.[2] ?? text.trim();

/** The one release, cluster or plugin a query names. @throws RequestError when it names none, or several */
export function ownerIn({ cluster_id, release_id, plugin_id }: TagQuery): TagOwner {
  const owners = [
    ...(cluster_id === undefined ? [] : [{ kind: 'cluster' as const, id: cluster_id }]),
    ...(release_id === undefined ? [] : [{ kind: 'release' as const, id: release_id }]),
    ...(plugin_id === undefined ? [] : [{ kind: 'plugin' as const, id: plugin_id }]),
  ];
  const [owner] = owners;
  if (owner !== undefined && owners.length === 1) return owner;
  throw refuse(
    owner === undefined ? 'the query names no owner of the tag' : 'the query names several owners',
    'Give one of cluster_id, release_id and plugin_id.',
    'cluster_id',
  );
}

export function tagNameIn({ tag_name: name }: TagQuery): string {
  if (name === undefined || unquoted(name) === '')
    throw refuse('tag_name is missing in the query', "As in tag_name='swift'.", 'tag_name');
  return unquoted(name);
}

/** The tag a query describes. @throws RequestError for a missing name or metadata that is none */
export function uploadIn(query: TagQuery): TagUpload {
  const name = tagNameIn(query);
  if (query.meta === undefined)
    throw refuse('meta is missing in the query', 'As in meta={"has_primary": false}.', 'meta');
  let meta: unknown;
  try {
    meta = JSON.parse(query.meta);
  } catch {
    throw refuse('meta is not JSON', 'Write {"has_primary": true}, with double quotes.', 'meta');
  }
  if (
    typeof meta !== 'object' ||
    meta === null ||
    typeof (meta as { has_primary?: unknown }).has_primary !== 'boolean'
  ) {
    throw refuse('meta must be an object with has_primary, true or false', 'Write {"has_primary": true}.', 'meta');
  }
  const role = query.role === undefined ? '' : unquoted(query.role);
  return { name, meta: meta as TagUpload['meta'], ...(role === '' ? {} : { role }) };
}

/** `mysql,neutron`, or a list as the specification writes it: `['mysql', 'neutron']`. */
export function tagNamesIn({ tags, tag_name }: TagQuery): readonly string[] {
  const text = (tags ?? tag_name ?? '').trim().replace(/^\[(.*)\]$/s, '$1');
  const names = text
    .split(',')
    .map(unquoted)
    .filter((name) => name !== '');
  if (names.length === 0) throw refuse('tags is missing in the query', "As in tags=['mysql', 'neutron'].", 'tags');
  return names;
}

export function nodesIn({ node_id: text }: TagQuery): readonly number[] {
  const ids = idsIn(text?.trim().replace(/^\[(.*)\]$/s, '$1'), 'node_id') ?? [];
  if (ids.length === 0) throw refuse('node_id is missing in the query', 'As in node_id=1.', 'node_id');
  return ids;
}
