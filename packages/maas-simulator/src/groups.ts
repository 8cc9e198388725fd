import { badRequest, conflict, deleted, type FieldErrors, invalidForm, json, notFound, refuse } from './answer.ts';
import { type Call, type Handler, requireRight } from './call.ts';
import { listOf } from './machine-list.ts';
import { viewPool, viewZone } from './machine-view.ts';
import type { Pool, Tag, Zone } from './records.ts';

const validName = /^[\w][\w .-]*$/;
const validTag = /^[\w-]+$/;

function checkName(call: Call, pattern: RegExp, taken: (name: string) => boolean, kind: string): string {
  const name = call.form.text('name');
  const errors: Record<string, readonly string[]> = {};
  if (name === null) errors.name = ['This field is required.'];
  else if (name.length > 256) errors.name = [`Ensure this value has at most 256 characters (it has ${name.length}).`];
  else if (!pattern.test(name)) errors.name = ['Enter a valid value.'];
  else if (taken(name)) errors.name = [`${kind} with this Name already exists.`];
  if (errors.name) refuse(invalidForm(errors as FieldErrors));
  return name ?? '';
}

const byName = <T extends { readonly name: string }>(rows: Iterable<T>): T[] =>
  [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));

// Zones, addressed by name.

const zoneOf = (call: Call): Readonly<Zone> => call.region.zones.get(call.parts[0] ?? '') ?? refuse(notFound('Zone'));

export const listZones: Handler = (call) => json(byName(call.region.zones.values()).map(viewZone));

export const readZone: Handler = (call) => json(viewZone(zoneOf(call)));

export const createZone: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities', 'This method is reserved for admin users.');
  const { zones } = call.region;
  const name = checkName(call, validName, (wanted) => zones.has(wanted), 'Physical zone');
  const zone: Zone = { id: call.region.next('zone'), name, description: call.form.get('description') ?? '' };
  return json(viewZone(zones.put(name, zone)));
};

export const updateZone: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities', 'This method is reserved for admin users.');
  const { region, form } = call;
  const zone = zoneOf(call);
  const from = zone.name;
  const row = region.zones.edit(from);
  if (form.has('description')) row.description = form.get('description') ?? '';
  const to = form.text('name');
  if (to !== null && to !== from) {
    checkName(call, validName, (wanted) => region.zones.has(wanted), 'Physical zone');
    region.zones.delete(from);
    region.zones.put(to, { ...row, name: to });
    for (const machine of region.machines.values()) if (machine.zone === from) region.editMachine(machine).zone = to;
  }
  return json(viewZone(region.zones.get(to ?? from) as Zone));
};

/** Its machines move to the default zone. Deleting an unknown zone succeeds. */
export const deleteZone: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities', 'This method is reserved for admin users.');
  const { region } = call;
  const name = call.parts[0] ?? '';
  if (name === 'default') refuse(badRequest('This zone is the default zone, it cannot be deleted.'));
  for (const machine of region.machines.values())
    if (machine.zone === name) region.editMachine(machine).zone = 'default';
  region.zones.delete(name);
  return deleted();
};

// Resource pools, addressed by id.

const poolOf = (call: Call): Readonly<Pool> =>
  call.region.pools.get(call.parts[0] ?? '') ?? refuse(notFound('ResourcePool'));

export const listPools: Handler = (call) => json([...call.region.pools.values()].map(viewPool));

export const readPool: Handler = (call) => json(viewPool(poolOf(call)));

export const createPool: Handler = (call) => {
  requireRight(call, 'can_edit_machines');
  const { region } = call;
  const name = checkName(call, validName, (wanted) => region.poolNamed(wanted) !== undefined, 'Resource pool');
  const pool: Pool = { id: region.next('pool'), name, description: call.form.get('description') ?? '' };
  return json(viewPool(region.pools.put(String(pool.id), pool)));
};

export const updatePool: Handler = (call) => {
  requireRight(call, 'can_edit_machines');
  const pool = poolOf(call);
  const { region, form } = call;
  const row = region.pools.edit(String(pool.id));
  const name = form.text('name');
  if (name !== null && name !== pool.name) {
    row.name = checkName(call, validName, (wanted) => region.poolNamed(wanted) !== undefined, 'Resource pool');
  }
  if (form.has('description')) row.description = form.get('description') ?? '';
  return json(viewPool(row));
};

export const deletePool: Handler = (call) => {
  requireRight(call, 'can_edit_machines');
  const pool = poolOf(call);
  if (pool.id === 0) refuse(badRequest('This is the default pool, it cannot be deleted.'));
  for (const machine of call.region.machines.values()) {
    if (machine.pool === pool.id) refuse(badRequest('Pool has machines in it, it cannot be deleted.'));
  }
  call.region.pools.delete(String(pool.id));
  return deleted();
};

// Tags, addressed by name.

const viewTag = (tag: Readonly<Tag>): object => ({ ...tag, resource_uri: `/MAAS/api/2.0/tags/${tag.name}/` });

const tagOf = (call: Call): Readonly<Tag> => call.region.tags.get(call.parts[0] ?? '') ?? refuse(notFound('Tag'));

export const listTags: Handler = (call) => json(byName(call.region.tags.values()).map(viewTag));

export const readTag: Handler = (call) => json(viewTag(tagOf(call)));

export const createTag: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { region, form } = call;
  const name = checkName(call, validTag, (wanted) => region.tags.has(wanted), 'Tag');
  const tag: Tag = {
    name,
    definition: form.get('definition') ?? '',
    comment: form.get('comment') ?? '',
    kernel_opts: form.get('kernel_opts') ?? '',
  };
  return json(viewTag(region.tags.put(name, tag)));
};

export const updateTag: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { region, form } = call;
  const from = tagOf(call).name;
  const row = region.tags.edit(from);
  for (const field of ['definition', 'comment', 'kernel_opts'] as const) {
    if (form.has(field)) row[field] = form.get(field) ?? '';
  }
  const to = form.text('name');
  if (to !== null && to !== from) {
    checkName(call, validTag, (wanted) => region.tags.has(wanted), 'Tag');
    retag(call, from, to);
    region.tags.delete(from);
    region.tags.put(to, { ...row, name: to });
  }
  return json(viewTag(region.tags.get(to ?? from) as Tag));
};

/** Renames a tag on all its machines, or removes it. */
function retag(call: Call, from: string, to: string | null): void {
  for (const machine of call.region.machines.values()) {
    if (!machine.tags.includes(from)) continue;
    const others = machine.tags.filter((name) => name !== from);
    call.region.editMachine(machine).tags = to === null ? others : [...others, to].sort();
  }
}

export const deleteTag: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { name } = tagOf(call);
  retag(call, name, null);
  call.region.tags.delete(name);
  return deleted();
};

export const machinesOfTag: Handler = (call) => {
  const { name } = tagOf(call);
  return listOf(
    call,
    [...call.region.machines.values()].filter((machine) => machine.tags.includes(name)),
  );
};

/** Devices and controllers: the region has none with a tag. */
export const nothingOfTag: Handler = (call) => {
  tagOf(call);
  return json([]);
};

/** Counts existing ids, changed or not, and silently skips unknown ones. */
export const updateNodes: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { name, definition } = tagOf(call);
  const { region, form } = call;
  const supplied = form.text('definition');
  if (supplied !== null && supplied !== definition) {
    refuse(conflict(`Definition supplied '${supplied}' doesn't match current definition '${definition}'`));
  }
  const apply = (key: 'add' | 'remove'): number => {
    const machines = [...new Set(form.all(key))].flatMap((id) => region.machines.get(id) ?? []);
    for (const machine of machines) {
      const others = machine.tags.filter((tag) => tag !== name);
      if (machine.tags.includes(name) !== (key === 'add')) {
        region.editMachine(machine).tags = key === 'add' ? [...others, name].sort() : others;
      }
    }
    return machines.length;
  };
  return json({ added: apply('add'), removed: apply('remove') });
};

/** Definitions match hardware details, which the simulator has none of: nothing changes. */
export const rebuildTag: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  return json({ rebuilding: tagOf(call).name });
};
