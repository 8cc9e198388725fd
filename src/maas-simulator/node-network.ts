import { MachineStatus } from '../maas/status.js';
import { conflict, deleted, type FieldErrors, forbidden, invalidForm, json, notFound, refuse } from './answer.js';
import { type Call, editableMachineOf, type Handler, machineOf } from './call.js';
import { isMac } from './constraints.js';
import { newInterface, newLink } from './hardware.js';
import { viewInterface } from './network-view.js';
import type { Link, Machine, NetworkInterface } from './records.js';

/** States in which an interface may be configured. */
const configurable: ReadonlySet<number> = new Set([
  MachineStatus.New,
  MachineStatus.Ready,
  MachineStatus.Allocated,
  MachineStatus.FailedTesting,
  MachineStatus.Broken,
]);

function configurableMachineOf(call: Call, doing: string): Readonly<Machine> {
  const machine = editableMachineOf(call);
  // The owner may configure an allocated machine; all else needs an administrator.
  if (!call.user.isSuperuser && machine.owner !== call.user.username) refuse(forbidden());
  if (!configurable.has(machine.status)) {
    refuse(conflict(`Cannot ${doing} interface because the machine is not New, Ready, Allocated, or Broken.`));
  }
  return machine;
}

function interfaceOf(call: Call, machine: Readonly<Machine>): NetworkInterface {
  const wanted = call.parts[1] ?? '';
  return (
    machine.interfaces.find((nic) => String(nic.id) === wanted || nic.name === wanted) ?? refuse(notFound('Interface'))
  );
}

/** Replaces an interface with the changed one, and answers it. */
function replace(call: Call, machine: Readonly<Machine>, nic: NetworkInterface): ReturnType<Handler> {
  call.region.setInterfaces(
    machine,
    machine.interfaces.map((other) => (other.id === nic.id ? nic : other)),
  );
  return json(viewInterface(call.region, machine, nic));
}

export const listInterfaces: Handler = (call) => {
  const machine = machineOf(call);
  return json(machine.interfaces.map((nic) => viewInterface(call.region, machine, nic)));
};

export const readInterface: Handler = (call) => {
  const machine = machineOf(call);
  return json(viewInterface(call.region, machine, interfaceOf(call, machine)));
};

const noSuchChoice = 'Select a valid choice. That choice is not one of the available choices.';

const bondOptions = ({ form }: Call): NetworkInterface['params'] =>
  Object.fromEntries(
    form.names
      .filter((name) => name.startsWith('bond_'))
      .map((name) => {
        const value = form.get(name) ?? '';
        return [name, /^\d+$/.test(value) ? Number(value) : value];
      }),
  );

export const updateInterface: Handler = (call) => {
  const machine = configurableMachineOf(call, 'update');
  const nic = interfaceOf(call, machine);
  const { form } = call;
  const errors: Record<string, readonly string[]> = {};
  const vlan = form.text('vlan');
  if (vlan !== null && !call.region.vlans.has(vlan)) errors.vlan = [noSuchChoice];
  const mtu = form.text('mtu');
  if (mtu !== null && !(Number(mtu) >= 552)) errors.mtu = ['Ensure this value is greater than or equal to 552.'];
  const name = form.text('name') ?? nic.name;
  if (machine.interfaces.some((other) => other.name === name && other.id !== nic.id)) {
    errors.name = [`Node already has an interface named '${name}'.`];
  }
  const mac = form.text('mac_address');
  if (mac !== null && !isMac(mac)) errors.mac_address = [`'${mac}' is not a valid MAC address.`];
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors as FieldErrors));
  return replace(call, machine, {
    ...nic,
    name,
    mac: (mac ?? nic.mac).toLowerCase(),
    vlan: vlan === null ? nic.vlan : Number(vlan),
    mtu: mtu === null ? nic.mtu : Number(mtu),
    params: { ...nic.params, ...bondOptions(call) },
    tags: form.has('tags') ? form.words('tags') : nic.tags,
  });
};

export const deleteInterface: Handler = (call) => {
  const machine = configurableMachineOf(call, 'delete');
  const nic = interfaceOf(call, machine);
  // VLANs go with what they are on.
  call.region.setInterfaces(
    machine,
    machine.interfaces.filter((other) => other.id !== nic.id && !other.parents.includes(nic.name)),
  );
  return deleted();
};

export const createPhysical: Handler = (call) => {
  const machine = configurableMachineOf(call, 'create');
  const { form, region } = call;
  const mac = form.text('mac_address');
  if (mac === null) return refuse(invalidForm({ mac_address: ['This field is required.'] }));
  if (!isMac(mac)) return refuse(invalidForm({ mac_address: [`'${mac}' is not a valid MAC address.`] }));
  if (region.machineWithMac(mac)) refuse(invalidForm({ mac_address: ['This MAC address is already in use.'] }));
  const name = form.text('name') ?? `eth${machine.interfaces.length}`;
  const nic: NetworkInterface = {
    ...newInterface(region, name, mac),
    vlan: form.text('vlan') === null ? null : 5001,
    tags: form.words('tags'),
  };
  region.setInterfaces(machine, [...machine.interfaces, nic]);
  return json(viewInterface(region, machine, nic));
};

/** A bond, bridge or VLAN interface over interfaces of the machine. */
function createOver(type: 'bond' | 'bridge' | 'vlan'): Handler {
  return (call) => {
    const machine = configurableMachineOf(call, 'create');
    const { form, region } = call;
    const given = [...form.words('parents'), ...form.words('parent')];
    const parents = machine.interfaces.filter((nic) => given.includes(String(nic.id)) || given.includes(nic.name));
    if (parents.length === 0 || parents.length !== given.length) {
      const key = type === 'bond' ? 'parents' : 'parent';
      refuse(invalidForm({ [key]: [given.length === 0 ? 'This field is required.' : noSuchChoice] }));
    }
    const first = parents[0] as NetworkInterface;
    const wanted = form.text('vlan');
    const vlan = wanted === null ? undefined : region.vlans.get(wanted);
    if (wanted !== null && !vlan) refuse(invalidForm({ vlan: [noSuchChoice] }));
    if (type === 'vlan') {
      const text =
        !vlan || vlan.vid === 0
          ? 'A VLAN interface must be connected to a tagged VLAN.'
          : vlan.fabric === region.vlans.get(String(first.vlan))?.fabric
            ? null
            : 'A VLAN interface can only belong to a tagged VLAN on the same fabric as its parent interface.';
      if (text !== null) refuse(invalidForm({ vlan: [text] }));
    }
    const name = type === 'vlan' ? `${first.name}.${vlan?.vid ?? 0}` : form.text('name');
    if (name === null) return refuse(invalidForm({ name: ['This field is required.'] }));
    if (machine.interfaces.some((nic) => nic.name === name)) {
      refuse(invalidForm({ name: [`Node already has an interface named '${name}'.`] }));
    }
    const nic: NetworkInterface = {
      ...newInterface(region, name, form.text('mac_address') ?? first.mac),
      type,
      vlan: vlan?.id ?? first.vlan,
      mtu: form.text('mtu') === null ? null : Number(form.text('mtu')),
      params: type === 'bond' ? { bond_mode: 'active-backup', ...bondOptions(call) } : {},
      parents: parents.map((parent) => parent.name),
      tags: form.words('tags'),
    };
    // Members of a bond have no links of their own.
    const others = machine.interfaces.map((other) =>
      type === 'bond' && parents.includes(other) ? { ...other, links: [] } : other,
    );
    region.setInterfaces(machine, [...others, nic]);
    return json(viewInterface(region, machine, nic));
  };
}

export const createBond = createOver('bond');
export const createBridge = createOver('bridge');
export const createVlan = createOver('vlan');

const modes = ['AUTO', 'DHCP', 'STATIC', 'LINK_UP'] as const;

/** Adds a link even if the same one exists: calling it twice makes two. */
export const linkSubnet: Handler = (call) => {
  const machine = configurableMachineOf(call, 'link');
  const nic = interfaceOf(call, machine);
  const { form, region } = call;
  const mode = form.text('mode')?.toUpperCase() ?? '';
  const errors: Record<string, readonly string[]> = {};
  if (mode === '') errors.mode = ['This field is required.'];
  else if (!(modes as readonly string[]).includes(mode)) {
    errors.mode = [`Select a valid choice. ${mode} is not one of the available choices.`];
  }
  const wanted = form.text('subnet');
  const subnet = wanted === null ? undefined : [...region.subnets.values()].find((each) => isNamed(each, wanted));
  if (wanted !== null && !subnet) errors.subnet = [noSuchChoice];
  if (wanted === null && (mode === 'AUTO' || mode === 'STATIC')) errors.subnet = ['This field is required.'];
  const isElsewhere = subnet && nic.vlan !== null && subnet.vlan !== nic.vlan && !form.flag('force');
  if (isElsewhere) errors.subnet = [noSuchChoice];
  const bond = machine.interfaces.find((other) => other.type === 'bond' && other.parents.includes(nic.name));
  if (bond) errors.bond = [`Cannot link interface(${nic.name}) when interface is in a bond(${bond.name}).`];
  if (mode === 'DHCP' && nic.links.some((link) => link.mode === 'dhcp'))
    errors.mode = ['Interface is already set to DHCP.'];
  const address = mode === 'STATIC' ? form.text('ip_address') : null;
  if (address !== null && region.addressTaken(address)) {
    errors.ip_address = [`IP address is already in use.`];
  }
  if (Object.keys(errors).length > 0) refuse(invalidForm(errors as FieldErrors));
  const link = newLink(region, mode.toLowerCase() as Link['mode'], subnet?.id ?? null, address);
  const links = form.flag('force') ? [link] : [...nic.links, link];
  return replace(call, machine, { ...nic, vlan: subnet?.vlan ?? nic.vlan, links });
};

const isNamed = (subnet: { id: number; name: string; cidr: string }, key: string): boolean =>
  [String(subnet.id), subnet.name, subnet.cidr].includes(key.replace(/^(?:name|id|cidr):/, ''));

export const unlinkSubnet: Handler = (call) => {
  const machine = configurableMachineOf(call, 'unlink');
  const nic = interfaceOf(call, machine);
  const id = call.form.text('id');
  if (id === null) return refuse(invalidForm({ id: ['This field is required.'] }));
  if (!nic.links.some((link) => String(link.id) === id)) return refuse(invalidForm({ id: [noSuchChoice] }));
  return replace(call, machine, { ...nic, links: nic.links.filter((link) => String(link.id) !== id) });
};

export const disconnect: Handler = (call) => {
  const machine = configurableMachineOf(call, 'disconnect');
  return replace(call, machine, { ...interfaceOf(call, machine), links: [], vlan: null });
};

export const setDefaultGateway: Handler = (call) => {
  const machine = configurableMachineOf(call, 'set the default gateway of');
  const nic = interfaceOf(call, machine);
  const usable = nic.links.filter((link) => Boolean(call.region.subnets.get(String(link.subnet))?.gateway));
  const wanted = call.form.text('link_id');
  const chosen = wanted === null ? usable[0] : usable.find(({ id }) => String(id) === wanted);
  if (usable.length === 0) refuse(invalidForm({ __all__: ['This interface has no usable gateways.'] }));
  if (!chosen) return refuse(invalidForm({ link_id: [noSuchChoice] }));
  call.region.editMachine(machine).gatewayLink = chosen.id;
  return json(viewInterface(call.region, machine, nic));
};
