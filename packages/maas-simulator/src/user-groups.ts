import { invalidForm, json, notFound, refuse, unknownEndpoint } from './answer.ts';
import { type Call, type Handler, requireRight } from './call.ts';
import { usersOf } from './oauth.ts';
import type { UserGroup } from './records.ts';
import { versionTraits } from './versions.ts';

/** The users of the region are each in a group of their own name. */
function groupsOf({ region }: Call): readonly UserGroup[] {
  const own = usersOf(region.version).map(({ username }, index) => ({
    id: index + 1,
    name: username,
    description: '',
  }));
  return [...own, ...region.userGroups.values()];
}

const identities = (answer: Handler): Handler => {
  return (call) => {
    if (!versionTraits(call.region.version).hasEntitlements) refuse(unknownEndpoint(call.path));
    requireRight(call, call.method === 'GET' ? 'can_view_identities' : 'can_edit_identities');
    return answer(call);
  };
};

const groupOf = (call: Call): UserGroup =>
  groupsOf(call).find(({ id }) => String(id) === call.parts[0]) ?? refuse(notFound('UserGroup'));

const userOf = (call: Call) => usersOf(call.region.version).find(({ username }) => username === groupOf(call).name);

export const listGroups = identities((call) => json(groupsOf(call)));

export const readGroup = identities((call) => json(groupOf(call)));

export const createGroup = identities((call) => {
  const name = call.form.text('name');
  if (name === null) return invalidForm({ name: ['This field is required.'] });
  const id = usersOf(call.region.version).length + call.region.next('user-group');
  const description = call.form.get('description') ?? '';
  return json(call.region.userGroups.put(String(id), { id, name, description }));
});

export const listMembers = identities((call) => {
  const user = userOf(call);
  return json(user === undefined ? [] : [{ username: user.username, email: user.email }]);
});

export const listEntitlements = identities((call) =>
  json(
    (userOf(call)?.entitlements ?? []).map((entitlement) => ({ resource_type: 'maas', resource_id: 0, entitlement })),
  ),
);
