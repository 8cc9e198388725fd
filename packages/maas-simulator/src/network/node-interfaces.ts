import { MachineStatus } from '@sitewright/maas/status';
import { badRequest, deleted, forbidden, json, refuse, serverError } from '../answer.ts';
import { type Call, type Handler, machineOf, may } from '../call.ts';
import { Form } from '../form.ts';
import { FormErrors } from '../form-errors.ts';
import { maybeField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import { versionTraits } from '../versions.ts';
import {
  bondParams,
  bridgeParams,
  checkNameIsFree,
  commonParams,
  type InterfaceCall,
  macField,
  nameField,
  parentsField,
  refuseNameInUse,
  tagsField,
  vlanField,
} from './interface-form.ts';
import { Interfaces } from './interfaces.ts';
import { interfaceFor, machineForNew, visibleInterface } from './machine-of.ts';
import type { NetworkInterface, Vlan } from './records.ts';
import { viewInterface } from './view.ts';

const begin = (call: Call, machine: Readonly<Machine>, nic: NetworkInterface | null): InterfaceCall => ({
  call,
  machine,
  nic,
  interfaces: new Interfaces(call.region, machine),
  errors: new FormErrors(),
});

function answer({ call, machine, interfaces }: InterfaceCall, id: number): ReturnType<Handler> {
  interfaces.commit();
  return json(viewInterface(call.region, machine, interfaces.get(id)));
}

export const listInterfaces: Handler = (call) => {
  const machine = machineOf(call);
  return json(machine.interfaces.map((nic) => viewInterface(call.region, machine, nic)));
};

export const readInterface: Handler = (call) => {
  const { machine, nic } = visibleInterface(call);
  return json(viewInterface(call.region, machine, nic));
};

/** Makes an interface, up in its VLAN. */
function make(given: InterfaceCall, fields: Parameters<Interfaces['add']>[0]): ReturnType<Handler> {
  given.errors.refuse();
  refuseNameInUse(given, fields.name);
  const linkConnected = maybeField(given.call.form, 'link_connected') ?? false;
  const { id } = given.interfaces.add({ ...fields, linkConnected, tags: tagsField(given) });
  given.interfaces.ensureLinkUp(id);
  return answer(given, id);
}

export const createPhysical: Handler = (call) => {
  const machine = machineForNew(call, 'create');
  const given = begin(call, machine, null);
  const mac = macField(given, true);
  const name = nameField(given, false);
  const vlan = vlanField(given);
  const params = commonParams(given);
  checkNameIsFree(given, name);
  const free = (n: number): string =>
    given.interfaces.all.some((nic) => nic.name === `eth${n}`) ? free(n + 1) : `eth${n}`;
  return make(given, { type: 'physical', name: name ?? free(0), mac: mac ?? '', vlan: vlan?.id ?? null, params });
};

/** The form of a VLAN and a bridge names its parent `parent`; the last one counts. */
function withOneParent(call: Call): Call {
  const parent = call.form.get('parent') ?? call.form.get('parents');
  if (parent === null || parent === '') return call;
  const others = call.form
    .entries()
    .flatMap(([name, values]): [string, string][] =>
      name === 'parent' ? [] : values.map((value): [string, string] => [name, value]),
    );
  return { ...call, form: new Form([...others, ['parent', parent]]) };
}

const parentIsInBond = ({ interfaces }: InterfaceCall, { id }: NetworkInterface): boolean =>
  interfaces.childrenOf(id).some(({ type }) => type === 'bond');

function checkVlanParent(given: InterfaceCall, parent: NetworkInterface | undefined): void {
  const { errors } = given;
  if (errors.has('parent')) return;
  if (!parent) errors.add('parent', 'A VLAN interface must have exactly one parent.');
  else if (parent.type === 'vlan') {
    errors.add('parent', "A VLAN interface can't have another VLAN interface as parent.");
  } else if (parentIsInBond(given, parent)) {
    errors.add('parent', "A VLAN interface can't have a parent that is already in a bond.");
  }
}

/** @param isAsked false for a change that omits the VLAN. */
function checkTagged({ errors }: InterfaceCall, vlan: Readonly<Vlan> | null | undefined, isAsked: boolean): void {
  if (errors.has('vlan')) return;
  if (!vlan && isAsked) errors.add('vlan', 'A VLAN interface must be connected to a tagged VLAN.');
  else if (vlan?.vid === 0) errors.add('vlan', 'A VLAN interface can only belong to a tagged VLAN.');
}

function checkFabric(
  { errors, call: { region } }: InterfaceCall,
  vlan: Readonly<Vlan> | undefined,
  parent: NetworkInterface | undefined,
): void {
  if (errors.has('vlan', 'parent') || !vlan || !parent) return;
  const below = region.vlan(parent.vlan);
  if (!below) refuse(serverError("'NoneType' object has no attribute 'fabric_id'"));
  if (below.fabric === vlan.fabric) return;
  const text = 'A VLAN interface can only belong to a tagged VLAN on the same fabric as its parent interface.';
  errors.add('vlan', text);
}

export const createVlan: Handler = (original) => {
  const machine = machineForNew(original, 'create VLAN');
  const call = withOneParent(original);
  const given = begin(call, machine, null);
  const [parent] = parentsField(given, 'parent');
  const vlan = vlanField(given);
  const wanted = nameField(given, false);
  const params = commonParams(given);
  checkVlanParent(given, parent);
  checkTagged(given, vlan, true);
  checkFabric(given, vlan ?? undefined, parent);
  const name = wanted ?? `${parent?.name}.${vlan?.vid}`;
  if (!given.errors.has('name', 'vlan', 'parent')) checkNameIsFree(given, name);
  return make(given, {
    type: 'vlan',
    name,
    mac: parent?.mac ?? '',
    vlan: vlan?.id ?? null,
    params,
    parents: parent ? [parent.id] : [],
  });
};

function checkFree(
  given: InterfaceCall,
  parents: readonly NetworkInterface[],
  isInTheWay: (nic: NetworkInterface) => boolean,
): void {
  const used = parents
    .filter(({ id }) =>
      given.interfaces.childrenOf(id).some((child) => child.id !== given.nic?.id && isInTheWay(child)),
    )
    .map(({ name }) => name)
    .sort();
  if (used.length > 0) given.errors.add('parents', `Interfaces already in-use: ${used.join(', ')}.`);
}

const NO_MAC = 'This field cannot be blank.';

export const createBond: Handler = (call) => {
  const machine = machineForNew(call, 'create bond');
  const given = begin(call, machine, null);
  const { errors } = given;
  const parents = parentsField(given, 'parents');
  const asked = vlanField(given);
  const mac = macField(given, false);
  const name = nameField(given, true) ?? '';
  const params = { ...commonParams(given), ...bondParams(given) };
  if (!errors.has('parents') && parents.length === 0) {
    errors.add('parents', 'A bond interface must have one or more parents.');
  }
  const [first] = parents;
  if (!first && mac === null && !errors.has('mac_address')) errors.add('mac_address', NO_MAC);
  const vlan = asked?.id ?? first?.vlan ?? null;
  if (!errors.has('parents')) {
    checkFree(given, parents, () => true);
    if (parents.some((parent) => parent.vlan !== vlan))
      errors.add('parents', 'All parents must belong to the same VLAN.');
  }
  errors.refuse();
  if (parents.some(({ type }) => type !== 'physical')) errors.add('parents', 'Only physical interfaces can be bonded.');
  return make(given, {
    type: 'bond',
    name,
    mac: mac ?? first?.mac ?? '',
    vlan,
    params,
    parents: parents.map(({ id }) => id),
  });
};

function checkBridgeParent(given: InterfaceCall, parent: NetworkInterface | undefined): void {
  const { errors, interfaces } = given;
  if (errors.has('parent')) return;
  const least = versionTraits(given.call.region.version).maySpanParents ? 'at least' : 'exactly';
  if (!parent) errors.add('parent', `A bridge interface must have ${least} one parent.`);
  else if (parent.type === 'bridge') {
    errors.add('parent', "A bridge interface can't have another bridge interface as parent.");
  } else if (interfaces.childrenOf(parent.id).some(({ type }) => type === 'bond' || type === 'bridge')) {
    errors.add('parent', "A bridge interface can't have a parent that is already in a bond or a bridge.");
  }
}

export const createBridge: Handler = (original) => {
  const machine = machineForNew(original, 'create bridge');
  const call = withOneParent(original);
  const given = begin(call, machine, null);
  const { errors, interfaces } = given;
  const [parent] = parentsField(given, 'parent');
  const isInUse = machine.status === MachineStatus.Allocated;
  const asked = isInUse ? undefined : vlanField(given);
  const mac = macField(given, false);
  const name = nameField(given, true) ?? '';
  const params = { ...commonParams(given), ...bridgeParams(given) };
  checkBridgeParent(given, parent);
  if (errors.has('parent', 'vlan') && mac === null && !errors.has('mac_address')) errors.add('mac_address', NO_MAC);
  errors.refuse();
  // On a machine in use the bridge takes over the links of its parent.
  const links = isInUse && parent ? interfaces.get(parent.id).links : [];
  return make(given, {
    type: 'bridge',
    name,
    mac: mac ?? parent?.mac ?? '',
    vlan: asked?.id ?? parent?.vlan ?? null,
    params,
    parents: parent ? [parent.id] : [],
    links,
  });
};

/** A Deployed machine: only name and MAC; all else is passed over in silence. */
function updateDeployed(given: InterfaceCall, nic: NetworkInterface): ReturnType<Handler> {
  const { errors, interfaces, call } = given;
  const name = nameField(given, false);
  const mac = macField(given, nic.type === 'physical');
  errors.refuse();
  refuseNameInUse(given, name);
  const linkConnected = maybeField(call.form, 'link_connected') ?? nic.linkConnected;
  interfaces.edit(nic.id, { name: name ?? nic.name, mac: mac ?? nic.mac, linkConnected });
  return answer(given, nic.id);
}

/** The parents of a bond or bridge in a change; null if it omits them. */
function newParents(given: InterfaceCall, nic: NetworkInterface): NetworkInterface[] | null {
  const { call, errors } = given;
  if ((nic.type !== 'bond' && nic.type !== 'bridge') || !call.form.has('parents')) return null;
  const parents = parentsField(given, 'parents');
  if (errors.has('parents')) return null;
  if (parents.length === 0) errors.add('parents', `A ${nic.type} interface must have one or more parents.`);
  if (nic.type === 'bridge' && parents.length > 1)
    errors.add('parents', 'A bridge interface must have exactly one parent.');
  checkFree(given, parents, ({ type }) => nic.type === 'bond' || type !== 'vlan');
  return parents;
}

/** A bond whose MAC address was of a parent that leaves takes that of its first parent. */
function macAmong(
  interfaces: Interfaces,
  nic: NetworkInterface,
  mac: string,
  parents: NetworkInterface[] | null,
): string {
  const [first] = parents ?? [];
  const its = interfaces.parentsOf(nic).find((parent) => parent.mac === mac);
  if (!first || !its || mac !== nic.mac || parents?.includes(its)) return mac;
  return first.mac;
}

export const updateInterface: Handler = (call) => {
  const { machine, nic } = interfaceFor(call, 'update interface', MachineStatus.Deployed);
  const given = begin(call, machine, nic);
  if (machine.status === MachineStatus.Deployed) return updateDeployed(given, nic);
  const { errors, interfaces } = given;
  const isFormName = nic.type === 'physical' || nic.type === 'vlan';
  const name = nameField(given, !isFormName && call.form.has('name'));
  const mac = nic.type === 'vlan' ? null : macField(given, nic.type === 'physical');
  const vlan = vlanField(given);
  const parents = newParents(given, nic);
  const params = {
    ...commonParams(given),
    ...(nic.type === 'bond' ? bondParams(given) : nic.type === 'bridge' ? bridgeParams(given) : {}),
  };
  if (nic.type === 'vlan') {
    checkTagged(given, vlan, vlan === null);
    checkFabric(given, vlan ?? call.region.vlan(nic.vlan), interfaces.parentsOf(nic)[0]);
  }
  if (isFormName) checkNameIsFree(given, name);
  errors.refuse();
  refuseNameInUse(given, name);
  const enabled = (nic.type === 'physical' ? maybeField(call.form, 'enabled') : null) ?? nic.enabled;
  interfaces.edit(nic.id, {
    name: name ?? nic.name,
    mac: macAmong(interfaces, nic, mac ?? nic.mac, parents),
    params,
    tags: tagsField(given),
    linkConnected: maybeField(call.form, 'link_connected') ?? nic.linkConnected,
    enabled,
    ...(parents ? { parents: parents.map(({ id }) => id) } : {}),
  });
  if (vlan !== undefined) interfaces.setVlan(nic.id, vlan?.id ?? null);
  if (enabled !== nic.enabled) {
    if (enabled) interfaces.ensureLinkUp(nic.id);
    else interfaces.clearLinks(nic.id);
  }
  return answer(given, nic.id);
};

export const deleteInterface: Handler = (call) => {
  const { machine, nic } = interfaceFor(call, 'delete interface');
  const interfaces = new Interfaces(call.region, machine);
  interfaces.remove(nic.id);
  interfaces.commit();
  return deleted();
};

const changeTag =
  (change: (tags: readonly string[], tag: string) => readonly string[]): Handler =>
  (call) => {
    const { machine, nic } = visibleInterface(call);
    if (!may(call.user, 'can_edit_machines')) refuse(forbidden());
    const tag = call.form.text('tag') ?? refuse(badRequest('No provided tag!'));
    const given = begin(call, machine, nic);
    given.interfaces.edit(nic.id, { tags: change(nic.tags, tag) });
    return answer(given, nic.id);
  };

export const addTag = changeTag((tags, tag) => (tags.includes(tag) ? tags : [...tags, tag]));
export const removeTag = changeTag((tags, tag) => tags.filter((other) => other !== tag));
