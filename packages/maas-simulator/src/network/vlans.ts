import { badRequest, deleted, json, missing, notFound, refuse } from '../answer.ts';
import { type Call, type Handler, requireRight } from '../call.ts';
import { FormErrors, NO_SUCH_CHOICE, REQUIRED } from '../form-errors.ts';
import { integerField } from '../form-fields.ts';
import { fabricOf } from './fabrics.ts';
import { findFabric, findSpace } from './find.ts';
import { Interfaces } from './interfaces.ts';
import type { Vlan } from './records.ts';
import { UNDEFINED_SPACE, viewVlan } from './view.ts';

export const listVlans: Handler = (call) => {
  const { region } = call;
  return json(region.vlansOf(fabricOf(call).id).map((vlan) => viewVlan(region, vlan)));
};

/** By its tag or name in a fabric, or by its id. */
function vlanOf(call: Call): Readonly<Vlan> {
  const { region, parts } = call;
  const wanted = parts[1];
  if (wanted === undefined) {
    return region.vlans.get(parts[0] ?? '') ?? refuse(missing('VLAN with specified ID does not exist.'));
  }
  const vid = wanted === 'untagged' ? '0' : wanted;
  const inFabric = region.vlansOf(fabricOf(call).id);
  const found = inFabric.find((vlan) => (/^\d+$/.test(vid) ? String(vlan.vid) === vid : vlan.name === vid));
  return found ?? refuse(notFound('VLAN'));
}

export const readVlan: Handler = (call) => json(viewVlan(call.region, vlanOf(call)));

type Wanted = Pick<Vlan, 'vid' | 'name' | 'mtu' | 'space' | 'fabric'>;

function vidField(call: Call, errors: FormErrors, vlan: Readonly<Vlan> | null): number {
  const { form } = call;
  if (!form.has('vid') && vlan) return vlan.vid;
  if (form.text('vid') === null) errors.add('vid', REQUIRED);
  const vid = integerField(form, errors, 'vid');
  if (vid === null || vid < 0 || vid > 4094) errors.add('vid', 'VID must be between 0 and 4094.');
  return vid ?? 0;
}

function spaceField(call: Call, errors: FormErrors, now: number | null): number | null {
  const text = call.form.get('space');
  if (text === null) return now;
  if (text === '' || text === UNDEFINED_SPACE) return null;
  const space = findSpace(call.region, text);
  if (!space) errors.add('space', /^\d+$/.test(text) ? `None found with id=${text}.` : NO_SUCH_CHOICE);
  return space?.id ?? null;
}

function readForm(call: Call, fabric: number, vlan: Readonly<Vlan> | null): Wanted {
  const { form, region } = call;
  const errors = new FormErrors();
  const vid = vidField(call, errors, vlan);
  const name = form.has('name') ? form.text('name')?.trim() || null : (vlan?.name ?? null);
  if (name !== null && !/^\w[ \w-]*$/.test(name)) errors.add('name', 'Enter a valid value.');
  const mtu = integerField(form, errors, 'mtu', { min: 552 }) ?? vlan?.mtu ?? 1500;
  if (mtu > 65_535 && !errors.has('vid')) errors.add('mtu', 'MTU must be between 552 and 65535.');
  const space = spaceField(call, errors, vlan?.space ?? null);
  const other = vlan ? form.text('fabric') : null;
  const target = other === null ? fabric : findFabric(region, other)?.id;
  if (target === undefined) errors.add('fabric', NO_SUCH_CHOICE);
  const isThere = target !== undefined && region.vlansOf(target).some((one) => one.vid === vid && one.id !== vlan?.id);
  if (isThere && !errors.has('vid')) {
    errors.add('__all__', 'A VLAN with the specified VID already exists in the destination fabric.');
  }
  errors.refuse();
  return { vid, name, mtu, space, fabric: target ?? fabric };
}

export const createVlan: Handler = (call) => {
  const fabric = fabricOf(call).id;
  requireRight(call, 'can_edit_global_entities');
  return json(viewVlan(call.region, call.region.addVlan(readForm(call, fabric, null))));
};

export const updateVlan: Handler = (call) => {
  const vlan = vlanOf(call);
  requireRight(call, 'can_edit_global_entities');
  const wanted = readForm(call, vlan.fabric, vlan);
  const row = Object.assign(call.region.vlans.edit(String(vlan.id)), wanted);
  return json(viewVlan(call.region, row));
};

/** Subnets and interfaces move to the default VLAN of the fabric; VLAN interfaces go. */
export const deleteVlan: Handler = (call) => {
  const { region } = call;
  const { id, fabric } = vlanOf(call);
  requireRight(call, 'can_edit_global_entities');
  const left = region.firstVlanOf(fabric).id;
  if (left === id) refuse(badRequest('This VLAN is the default VLAN in the fabric, it cannot be deleted.'));
  for (const machine of new Set([...region.interfacesOn((vlan) => vlan === id)].map(([found]) => found))) {
    const interfaces = new Interfaces(region, machine);
    for (const nic of machine.interfaces.filter(({ vlan }) => vlan === id)) {
      if (nic.type === 'vlan') interfaces.remove(nic.id);
      else interfaces.setVlan(nic.id, left);
    }
    interfaces.commit();
  }
  for (const subnet of region.subnetsOn(id)) region.subnets.edit(String(subnet.id)).vlan = left;
  region.vlans.delete(String(id));
  return deleted();
};
