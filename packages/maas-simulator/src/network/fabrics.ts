import { badRequest, deleted, json, notFound, refuse } from '../answer.ts';
import { type Call, type Handler, requireRight } from '../call.ts';
import { FormErrors } from '../form-errors.ts';
import { findFabric, findSpace } from './find.ts';
import { parseNetwork } from './ip.ts';
import type { Fabric, NetworkInterface, Space } from './records.ts';
import { UNDEFINED_SPACE, viewFabric, viewSpace } from './view.ts';

export const listFabrics: Handler = ({ region }) =>
  json([...region.fabrics.values()].map((fabric) => viewFabric(region, fabric)));

export const fabricOf = ({ region, parts }: Call): Readonly<Fabric> =>
  findFabric(region, parts[0] ?? '') ?? refuse(notFound('Fabric'));

export const readFabric: Handler = (call) => json(viewFabric(call.region, fabricOf(call)));

type Named = Pick<Fabric, 'id' | 'name'>;

/** A name of word characters that nothing else has, and that is not one of MAAS' own. */
function ownName(call: Call, kind: 'Fabric' | 'Space', all: Iterable<Named>, self: Named | null): string | null {
  const errors = new FormErrors();
  const word = kind.toLowerCase();
  const name = call.form.text('name')?.trim() || null;
  if (name === null) return self?.name ?? null;
  const isOwn = name === `${word}-${self?.id}`;
  if (!/^[\w-]+$/.test(name)) errors.add('name', `Invalid ${word} name: ${name}.`);
  else if (!isOwn && new RegExp(`^${word}-\\d+$`).test(name)) errors.add('name', `Reserved ${word} name.`);
  else if (kind === 'Space' && name === UNDEFINED_SPACE) errors.add('name', 'Reserved space name.');
  else if ([...all].some((other) => other.name === name && other.id !== self?.id)) {
    errors.add('name', `${kind} with this Name already exists.`);
  }
  errors.refuse();
  return isOwn ? null : name;
}

export const createFabric: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { region, form } = call;
  const name = ownName(call, 'Fabric', region.fabrics.values(), null);
  return json(viewFabric(region, region.addFabric({ name, classType: form.text('class_type') })));
};

export const updateFabric: Handler = (call) => {
  const fabric = fabricOf(call);
  requireRight(call, 'can_edit_global_entities');
  const { region, form } = call;
  const name = ownName(call, 'Fabric', region.fabrics.values(), fabric);
  const row = region.fabrics.edit(String(fabric.id));
  row.name = name;
  if (form.has('class_type')) row.classType = form.text('class_type');
  return json(viewFabric(region, row));
};

/** IPv4 before IPv6, each in the order of numbers. */
function byNetwork(a: string, b: string): number {
  const [one, other] = [parseNetwork(a), parseNetwork(b)];
  if (!one || !other) return 0;
  return (
    one.version - other.version ||
    (one.first < other.first ? -1 : one.first > other.first ? 1 : one.prefix - other.prefix)
  );
}

const described = ({ name, type }: NetworkInterface, hostname: string): string => `${name} (${type}) on ${hostname}`;

export const deleteFabric: Handler = (call) => {
  const fabric = fabricOf(call);
  requireRight(call, 'can_edit_global_entities');
  const { region } = call;
  if (fabric.id === 0) refuse(badRequest('This fabric is the default fabric, it cannot be deleted.'));
  const vlans = new Set(region.vlansOf(fabric.id).map(({ id }) => id));
  const subnets = [...region.subnets.values()].filter(({ vlan }) => vlans.has(vlan)).map(({ cidr }) => cidr);
  if (subnets.length > 0) {
    const list = subnets.sort(byNetwork).join(', ');
    refuse(badRequest(`Can't delete fabric; the following subnets are still present: ${list}`));
  }
  const interfaces = [...region.interfacesOn((vlan) => vlans.has(vlan))];
  if (interfaces.length > 0) {
    const list = interfaces.map(([{ hostname }, nic]) => described(nic, hostname)).join(', ');
    refuse(badRequest(`Can't delete fabric; the following interfaces are still connected: ${list}`));
  }
  for (const id of vlans) region.vlans.delete(String(id));
  region.fabrics.delete(String(fabric.id));
  return deleted();
};

// Spaces.

export const listSpaces: Handler = ({ region }) => {
  const spaces: (Readonly<Space> | null)[] = [...region.spaces.values()];
  if ([...region.vlans.values()].some(({ space }) => space === null)) spaces.push(null);
  return json(spaces.map((space) => viewSpace(region, space)));
};

const isUndefined = ({ parts }: Call): boolean => parts[0] === '-1' || parts[0] === UNDEFINED_SPACE;

const spaceOf = ({ region, parts }: Call): Readonly<Space> =>
  findSpace(region, parts[0] ?? '') ?? refuse(notFound('Space'));

export const readSpace: Handler = (call) => json(viewSpace(call.region, isUndefined(call) ? null : spaceOf(call)));

export const createSpace: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { region } = call;
  const name = ownName(call, 'Space', region.spaces.values(), null);
  const id = region.next('space');
  return json(viewSpace(region, region.spaces.put(String(id), { id, name })));
};

export const updateSpace: Handler = (call) => {
  if (isUndefined(call)) refuse(badRequest(`Space cannot be modified: ${UNDEFINED_SPACE}`));
  const space = spaceOf(call);
  requireRight(call, 'can_edit_global_entities');
  const name = ownName(call, 'Space', call.region.spaces.values(), space);
  const row = call.region.spaces.edit(String(space.id));
  row.name = name;
  return json(viewSpace(call.region, row));
};

/** Its VLANs are in no space then. */
export const deleteSpace: Handler = (call) => {
  if (isUndefined(call)) refuse(badRequest(`Space cannot be deleted: ${UNDEFINED_SPACE}`));
  const { id } = spaceOf(call);
  requireRight(call, 'can_edit_global_entities');
  for (const vlan of [...call.region.vlans.values()]) {
    if (vlan.space === id) call.region.vlans.edit(String(vlan.id)).space = null;
  }
  call.region.spaces.delete(String(id));
  return deleted();
};
