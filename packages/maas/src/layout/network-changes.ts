import type { Hardware, Interface, InterfaceLink, LayoutChange } from './hardware.ts';
import { isSameAddress } from './ip-address.ts';
import type { TargetInterface, TargetLink } from './target-interfaces.ts';

/** The tag in MAAS of bonds and VLAN interfaces that we made, so that they can go when no document describes them. */
const OURS = 'sitewright';

/**
 * The next call towards the target, from one reading; `undefined` if nothing is left to do.
 *
 * Automatic changes of MAAS (recorded, 3.6.5): a move to another VLAN removes all links; removing the last link is
 * followed by a `link_up`, which the next link replaces; a bond takes its parents' links and wants them on its VLAN.
 */
export function nextNetworkChange(
  { interfaces, gatewayLinks }: Hardware,
  target: readonly TargetInterface[],
  untouched: readonly string[] = [],
): LayoutChange | undefined {
  const others = interfaces.filter(({ name }) => !untouched.some((one) => name === one || name.startsWith(`${one}.`)));
  return (
    removal(others, target) ??
    first(target, (wanted) => move(interfaces, wanted)) ??
    first(target, (wanted) => unlinking(interfaces, wanted)) ??
    first(target, (wanted) => creation(interfaces, wanted) ?? adjustment(interfaces, wanted)) ??
    first(target, (wanted) => gatewayChange(interfaces, gatewayLinks, wanted))
  );
}

const first = <Item>(items: readonly Item[], change: (item: Item) => LayoutChange | undefined) => {
  for (const item of items) {
    const found = change(item);
    if (found) return found;
  }
  return undefined;
};

const pathOf = ({ id }: Interface): string => `interfaces/${id}/`;

/**
 * An interface that is in the way or that we made for other documents; one upon it goes first. Others that no document
 * describes stay.
 */
function removal(interfaces: readonly Interface[], target: readonly TargetInterface[]): LayoutChange | undefined {
  const described = new Set(target.flatMap(({ name, parents }) => [name, ...parents]));
  let doomed = interfaces.find(
    (nic) =>
      nic.type !== 'physical' &&
      !target.some((wanted) => isLike(nic, wanted)) &&
      (described.has(nic.name) || nic.tags.includes(OURS) || nic.parents.some((parent) => described.has(parent))),
  );
  if (!doomed) return undefined;
  for (let upon = doomed as Interface | undefined; upon; ) {
    doomed = upon;
    const { name } = upon;
    upon = interfaces.find(({ parents }) => parents.includes(name));
  }
  const what = `${doomed.type} ${doomed.name}`;
  return {
    method: 'delete',
    path: pathOf(doomed),
    text: `remove ${what}`,
    removes: true,
    wanted: `no ${what}`,
    found: shown(doomed),
  };
}

const isLike = (nic: Interface, wanted: TargetInterface): boolean =>
  nic.name === wanted.name &&
  nic.type === wanted.type &&
  nic.parents.length === wanted.parents.length &&
  wanted.parents.every((parent) => nic.parents.includes(parent)) &&
  (wanted.type !== 'vlan' || nic.vlanId === wanted.vlan) &&
  Object.entries(wanted.params).every(([key, value]) => String(nic.params[key]) === String(value));

/** Puts an interface on its VLAN, and the parents of a bond that is to be made on that of the bond. */
function move(interfaces: readonly Interface[], wanted: TargetInterface): LayoutChange | undefined {
  const made = interfaces.find(({ name }) => name === wanted.name);
  const moved = made ? [made] : wanted.type === 'bond' ? parentsOf(interfaces, wanted) : [];
  const vlan = wanted.vlan ?? (made ? undefined : vlanOfParents(moved));
  const nic = moved.find(({ vlanId }) => vlan !== undefined && vlanId !== vlan);
  if (!nic) return undefined;
  return {
    method: 'put',
    path: pathOf(nic),
    form: { vlan },
    text: `put ${nic.name} on VLAN ${vlan}`,
    wanted: `${nic.name} on VLAN ${vlan}`,
    found: shown(nic),
  };
}

const parentsOf = (interfaces: readonly Interface[], { parents }: TargetInterface): Interface[] =>
  parents.flatMap((parent) => interfaces.find(({ name }) => name === parent) ?? []);

const vlanOfParents = (parents: readonly Interface[]): number | undefined =>
  parents.find(({ vlanId }) => vlanId !== undefined)?.vlanId;

/** MAAS links an interface again at each request, so that the same link may be there twice. */
function unlinking(
  interfaces: readonly Interface[],
  { name, link: wanted }: TargetInterface,
): LayoutChange | undefined {
  const nic = interfaces.find((each) => each.name === name);
  if (!nic) return undefined;
  const kept = wanted && nic.links.find((link) => isLink(nic, link, wanted));
  const extra = nic.links.find((link) => link !== kept && link.mode !== 'link_up');
  if (!extra) return undefined;
  const what = linkText(extra);
  return {
    method: 'post',
    path: pathOf(nic),
    op: 'unlink_subnet',
    form: { id: extra.id },
    text: `unlink ${what} from ${name}`,
    removes: true,
    wanted: wanted ? `${name} with ${linkText(wanted)} only` : `${name} without ${what}`,
    found: shown(nic),
  };
}

/**
 * One without an address is right on any subnet: MAAS shows that of the address found at the commissioning. Of a link by DHCP it
 * shows that, too, where there is one: it does not show the requested subnet.
 */
const isLink = (nic: Interface, link: InterfaceLink, wanted: TargetLink): boolean =>
  link.mode === wanted.mode &&
  (wanted.mode === 'link_up' ||
    link.subnetId === wanted.subnet?.id ||
    (wanted.mode === 'dhcp' && link.subnetId !== undefined && nic.discovered.has(link.subnetId))) &&
  (wanted.address === undefined || isSameAddress(link.ipAddress, wanted.address));

function creation(interfaces: readonly Interface[], wanted: TargetInterface): LayoutChange | undefined {
  if (wanted.type === 'physical' || interfaces.some(({ name }) => name === wanted.name)) return undefined;
  const parents = parentsOf(interfaces, wanted);
  const { mtu, name, type } = wanted;
  const vlan = wanted.vlan ?? vlanOfParents(parents);
  const ids = parents.map(({ id }) => String(id));
  const form =
    type === 'bond'
      ? { name, parents: ids, ...wanted.params, vlan, mtu, tags: OURS }
      : { parent: ids[0], vlan, mtu, tags: OURS };
  return {
    method: 'post',
    path: 'interfaces/',
    op: type === 'bond' ? 'create_bond' : 'create_vlan',
    form,
    text: `create ${type === 'bond' ? 'bond' : 'VLAN'} ${name}`,
    wanted: `the ${type} ${name} of ${wanted.parents.join(' and ')} on VLAN ${vlan}`,
    found: `no ${name}, and ${parents.map(shown).join('; ')}`,
  };
}

function adjustment(interfaces: readonly Interface[], wanted: TargetInterface): LayoutChange | undefined {
  const nic = interfaces.find(({ name }) => name === wanted.name);
  if (!nic) return undefined;
  const { mtu, link, name } = wanted;
  const found = shown(nic);
  if (mtu !== undefined && nic.mtu !== mtu) {
    const text = `set the MTU of ${name} to ${mtu}`;
    return { method: 'put', path: pathOf(nic), form: { mtu }, text, wanted: `${name} with MTU ${mtu}`, found };
  }
  if (!link || nic.links.some((each) => isLink(nic, each, link))) return undefined;
  const what = linkText(link);
  return {
    method: 'post',
    path: pathOf(nic),
    op: 'link_subnet',
    form: { mode: link.mode.toUpperCase(), subnet: link.subnet?.id, ip_address: link.address },
    text: `link ${name} (${what})`,
    wanted: `${name} with ${what}`,
    found,
  };
}

function gatewayChange(
  interfaces: readonly Interface[],
  gateways: readonly number[],
  { name, link }: TargetInterface,
): LayoutChange | undefined {
  const nic = interfaces.find((each) => each.name === name);
  const made = link?.isGateway ? nic?.links.find((each) => isLink(nic, each, link)) : undefined;
  if (!nic || !made || gateways.includes(made.id)) return undefined;
  return {
    method: 'post',
    path: pathOf(nic),
    op: 'set_default_gateway',
    form: { link_id: made.id },
    text: `make ${name} the default gateway`,
    wanted: `the default gateway at ${name} (${linkText(made)})`,
    found: gateways.length === 0 ? 'no default gateway' : 'the default gateway elsewhere',
  };
}

/** `static 10.0.0.5 in 10.0.0.0/24`, `link_up`. */
function linkText({ mode, subnet, ...of }: TargetLink | InterfaceLink): string {
  const address = 'ipAddress' in of ? of.ipAddress : (of.address ?? '');
  return [mode, address, subnet === undefined ? '' : `in ${subnet.cidr}`].filter((part) => part !== '').join(' ');
}

/** An interface as MAAS shows it, for people. */
export function shown({ name, type, parents, vlanId, mtu, links }: Interface): string {
  return [
    `${type} ${name}`,
    ...(parents.length === 0 ? [] : [`of ${parents.join(' and ')}`]),
    `on VLAN ${vlanId ?? 'none'}`,
    `MTU ${mtu ?? 'none'}`,
    links.length === 0 ? 'no links' : links.map(linkText).sort().join(', '),
  ].join(', ');
}
