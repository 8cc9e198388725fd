import type { Call } from '../call.ts';
import { isMac } from '../constraints.ts';
import { type FormErrors, NO_SUCH_CHOICE, REQUIRED } from '../form-errors.ts';
import { choiceField, choicesField, integerField, maybeField } from '../form-fields.ts';
import type { Machine } from '../records.ts';
import type { Interfaces } from './interfaces.ts';
import type { NetworkInterface, Vlan } from './records.ts';

// Checks of MAAS' forms for interfaces, new and changed. `nic` is the changed one; null: a new one.

export interface InterfaceCall {
  readonly call: Call;
  readonly machine: Readonly<Machine>;
  readonly interfaces: Interfaces;
  readonly nic: NetworkInterface | null;
  readonly errors: FormErrors;
}

const BLANK = 'This field cannot be blank.';

const badName =
  "The interface name must be 1 to 15 characters long and can only contain alphanumeric characters, hyphens ('-'), " +
  "underscores ('_'), periods ('.'), and colons (':').";

/** The name that the form gives; null when it gives none, or a wrong one. */
export function nameField({ call: { form }, nic, errors }: InterfaceCall, isRequired: boolean): string | null {
  const name = form.get('name')?.trim() ?? null;
  if (name === null && (nic !== null || !isRequired)) return null;
  if (name === null || name === '') {
    if (isRequired) errors.add('name', REQUIRED);
    else if (nic !== null) errors.add('name', BLANK);
    return null;
  }
  if (/^[\w\-.:]{1,15}$/.test(name)) return name;
  errors.add('name', badName);
  return null;
}

const holderOf = ({ interfaces, nic }: InterfaceCall, name: string): NetworkInterface | undefined =>
  interfaces.all.find((other) => other.name === name && other.id !== nic?.id);

/** For cards and VLANs the form itself refuses a name in use. */
export function checkNameIsFree(given: InterfaceCall, name: string | null): void {
  const { machine, errors } = given;
  if (name === null || !holderOf(given, name)) return;
  errors.add('name', `Node ${machine.id} (${machine.hostname}) already has an interface named '${name}'.`);
}

/** For all others it is the database, when everything else is right. */
export function refuseNameInUse(given: InterfaceCall, name: string | null): void {
  if (name === null || !holderOf(given, name)) return;
  given.errors.add('__all__', 'Interface with this Node config and Name already exists.');
  given.errors.refuse();
}

/** The VLAN that the form gives; null for none; undefined if the form omits it, or is wrong. */
export function vlanField({ call: { form, region }, errors }: InterfaceCall): Readonly<Vlan> | null | undefined {
  const text = form.get('vlan');
  if (text === null || text === '') return text === null ? undefined : null;
  const vlan = region.vlans.get(text);
  if (!vlan) errors.add('vlan', NO_SUCH_CHOICE);
  return vlan;
}

/** The interfaces that a new one is made of, by their ids. */
export function parentsField({ call: { form }, interfaces, errors }: InterfaceCall, field: string): NetworkInterface[] {
  const known = new Map(interfaces.all.map((nic) => [String(nic.id), nic]));
  const given = form.all(field).filter((id) => id !== '');
  const odd = given.find((id) => !/^\d+$/.test(id));
  if (odd !== undefined) {
    errors.add(field, `“${odd}” is not a valid value.`);
    return [];
  }
  const ids = choicesField(form, errors, field, (id) => known.has(id));
  return [...known.values()].filter(({ id }) => ids.includes(String(id)));
}

/** A MAC address in small letters; of a card that no other card may have. */
export function macField({ call: { form, region }, nic, errors }: InterfaceCall, isOfCard: boolean): string | null {
  const text = form.get('mac_address')?.trim() ?? null;
  if (text === null || text === '') {
    if (isOfCard && (nic === null || text === '')) errors.add('mac_address', REQUIRED);
    else if (text === '') errors.add('mac_address', BLANK);
    return null;
  }
  if (!isMac(text)) {
    errors.add('mac_address', `'${text}' is not a valid MAC address.`);
    return null;
  }
  const mac = text.toLowerCase().replaceAll('-', ':');
  const holder = isOfCard ? region.machineWithMac(mac) : undefined;
  const other = holder?.interfaces.find((one) => one.type === 'physical' && one.mac === mac && one.id !== nic?.id);
  if (!holder || !other) return mac;
  errors.add(
    'mac_address',
    `This MAC address is already in use by ${other.name} (${other.type}) on ${holder.hostname}.`,
  );
  return null;
}

/** Tags, by commas. MAAS' form for a change forgets all but the last when it gives none. */
export function tagsField({ call: { form }, nic }: InterfaceCall): readonly string[] {
  const text = form.get('tags');
  if (text === null) return nic?.tags.slice(-1) ?? [];
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

type Params = NetworkInterface['params'];

/** `mtu` and `accept_ra`; an empty value removes them. */
export function commonParams({ call: { form }, nic, errors }: InterfaceCall): Params {
  const { mtu, 'accept-ra': ra, ...others } = nic?.params ?? {};
  const size = integerField(form, errors, 'mtu', { min: 552 }) ?? (form.get('mtu') === '' ? undefined : mtu);
  const accepts = maybeField(form, 'accept_ra') ?? (form.get('accept_ra') === '' ? undefined : ra);
  return {
    ...others,
    ...(size === undefined ? {} : { mtu: size }),
    ...(accepts === undefined ? {} : { 'accept-ra': accepts }),
  };
}

const bondModes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'];
const lacpRates = ['fast', 'slow'];
const hashPolicies = ['layer2', 'layer2+3', 'layer3+4', 'encap2+3', 'encap3+4'];

const bondDefaults: Params = {
  bond_mode: 'balance-rr',
  bond_miimon: 100,
  bond_updelay: 0,
  bond_downdelay: 0,
  bond_lacp_rate: 'fast',
  bond_num_grat_arp: 1,
  bond_xmit_hash_policy: 'layer2',
};

const given = (params: Readonly<Record<string, string | number | boolean | null>>): Params =>
  Object.fromEntries(Object.entries(params).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));

export function bondParams({ call: { form }, nic, errors }: InterfaceCall): Params {
  const chosen = given({
    bond_mode: choiceField(form, errors, 'bond_mode', bondModes),
    bond_lacp_rate: choiceField(form, errors, 'bond_lacp_rate', lacpRates),
    bond_xmit_hash_policy: choiceField(form, errors, 'bond_xmit_hash_policy', hashPolicies),
    bond_miimon: integerField(form, errors, 'bond_miimon', { min: 0 }),
    bond_updelay: integerField(form, errors, 'bond_updelay', { min: 0 }),
    bond_downdelay: integerField(form, errors, 'bond_downdelay', { min: 0 }),
    bond_num_grat_arp: integerField(form, errors, 'bond_num_grat_arp', { min: 0, max: 255 }),
  });
  return { ...(nic ? {} : bondDefaults), ...chosen };
}

const bridgeDefaults: Params = { bridge_type: 'standard', bridge_stp: false, bridge_fd: 15 };

export function bridgeParams({ call: { form }, nic, errors }: InterfaceCall): Params {
  const chosen = given({
    bridge_type: choiceField(form, errors, 'bridge_type', ['standard', 'ovs']),
    bridge_fd: integerField(form, errors, 'bridge_fd', { min: 0 }),
    bridge_stp: maybeField(form, 'bridge_stp'),
  });
  return { ...(nic ? {} : bridgeDefaults), ...chosen };
}
