import { deleted, forbidden, json, notFound, refuse, serverError } from '../answer.ts';
import { type Call, type Handler, may } from '../call.ts';
import { FormErrors, NO_SUCH_CHOICE, REQUIRED } from '../form-errors.ts';
import { addressField } from '../form-fields.ts';
import { subnetAround } from './find.ts';
import { isIn, parseAddress } from './ip.ts';
import type { IpRange, Subnet } from './records.ts';
import { networkOf, unusedOf } from './subnet-use.ts';
import { viewRange } from './view.ts';

const rangeTypes = ['dynamic', 'reserved'];

export const listRanges: Handler = ({ region }) =>
  json([...region.ranges.values()].map((range) => viewRange(region, range)));

const rangeOf = ({ region, parts }: Call): Readonly<IpRange> =>
  region.ranges.get(parts[0] ?? '') ?? refuse(notFound('IPRange'));

function ownRangeOf(call: Call): Readonly<IpRange> {
  const range = rangeOf(call);
  if (!may(call.user, 'can_edit_machines') && range.owner !== call.user.username) {
    refuse(forbidden("Unable to modify IP range. You don't own the IP range."));
  }
  return range;
}

export const readRange: Handler = (call) => json(viewRange(call.region, rangeOf(call)));

export const deleteRange: Handler = (call) => {
  call.region.ranges.delete(String(ownRangeOf(call).id));
  return deleted();
};

const both = ['start_ip', 'end_ip'] as const;

function addToBoth(errors: FormErrors, text: string): void {
  for (const field of both) errors.add(field, text);
}

type Wanted = Pick<IpRange, 'type' | 'start' | 'end'>;

/** The rules for the ends of a range in its subnet; one broken rule at a time. */
function checkEnds(errors: FormErrors, { type, start, end }: Wanted, subnet: Readonly<Subnet>): void {
  const [first, last] = [parseAddress(start), parseAddress(end)];
  const network = networkOf(subnet);
  if (!first || !last) addToBoth(errors, 'Start IP address and end IP address are both required.');
  else if (first.version !== last.version) {
    addToBoth(errors, 'Start IP address and end IP address must be in the same address family.');
  } else if (last.value < first.value) {
    errors.add('end_ip', 'End IP address must not be less than Start IP address.');
  } else if (!isIn(network, first) && !isIn(network, last)) {
    addToBoth(errors, `IP addresses must be within subnet: ${subnet.cidr}.`);
  } else if (!isIn(network, first)) {
    errors.add('start_ip', `Start IP address must be within subnet: ${subnet.cidr}.`);
  } else if (!isIn(network, last)) errors.add('end_ip', `End IP address must be within subnet: ${subnet.cidr}.`);
  else if (first.value === network.first) {
    errors.add('start_ip', 'Reserved network address cannot be included in IP range.');
  } else if (network.version === 4 && last.value === network.last) {
    errors.add('end_ip', 'Broadcast address cannot be included in IP range.');
  } else if (network.version === 6 && type === 'dynamic' && last.value - first.value < 255n) {
    addToBoth(errors, 'IPv6 dynamic range must be at least 256 addresses in size.');
  }
}

/** Dynamic ranges lie over nothing but discovered addresses; reserved ones over no other range. */
function checkOverlap(call: Call, errors: FormErrors, wanted: Wanted, subnet: Readonly<Subnet>, self?: number): void {
  const isReserved = wanted.type === 'reserved';
  const options = { rangesOnly: isReserved, ignoreDiscovered: true, ...(self === undefined ? {} : { except: self }) };
  const unused = unusedOf(call.region, subnet, options);
  const [first, last] = [parseAddress(wanted.start)?.value ?? 0n, parseAddress(wanted.end)?.value ?? 0n];
  if (unused.length === 0) addToBoth(errors, `There is no room for any ${wanted.type} ranges on this subnet.`);
  else if (!unused.some((gap) => gap.first <= first && last <= gap.last)) {
    const what = isReserved ? 'range' : 'IP address or range';
    addToBoth(errors, `Requested ${wanted.type} range conflicts with an existing ${what}.`);
  }
}

/** Two errors of MAAS itself, which it meets before its checks. */
function failAsMaas(
  type: string,
  subnet: Readonly<Subnet> | undefined,
  start: string | null,
  end: string | null,
): void {
  if (type !== 'dynamic') return;
  if (!subnet) refuse(serverError("'subnet'"));
  const [first, last] = [parseAddress(start ?? ''), parseAddress(end ?? '')];
  if (!first) refuse(serverError("'start_ip'"));
  if (!last) refuse(serverError("'end_ip'"));
  if (last.value < first.value) refuse(serverError('lower bound IP greater than upper bound!'));
}

function readForm(call: Call, range: Readonly<IpRange> | null): Omit<IpRange, 'id' | 'owner'> {
  const { form, region } = call;
  const errors = new FormErrors();
  const type = form.get('type') ?? range?.type ?? '';
  if (type === '') errors.add('type', REQUIRED);
  else if (!rangeTypes.includes(type)) {
    errors.add('type', `Select a valid choice. ${type} is not one of the available choices.`);
  }
  const ends = both.map((field): string | null => {
    const kept = field === 'start_ip' ? range?.start : range?.end;
    if (!form.has(field) && kept !== undefined) return kept;
    if (form.text(field) === null) errors.add(field, REQUIRED);
    return addressField(form, errors, field);
  });
  const [start = null, end = null] = ends;
  const wanted = form.text('subnet');
  const around = range ? region.subnet(range.subnet) : subnetAround(region, form.text('start_ip') ?? '');
  const subnet = wanted === null ? around : region.subnets.get(wanted);
  failAsMaas(type, subnet, start, end);
  if (!subnet) errors.add('subnet', wanted === null ? REQUIRED : NO_SUCH_CHOICE);
  const ready = { type, start: start ?? '', end: end ?? '' };
  if (subnet) checkEnds(errors, ready, subnet);
  if (subnet && !errors.has('type', ...both)) checkOverlap(call, errors, ready, subnet, range?.id);
  errors.refuse();
  return { ...ready, subnet: subnet?.id ?? 0, comment: form.get('comment') ?? range?.comment ?? '' };
}

export const createRange: Handler = (call) => {
  if (call.form.get('type') === 'dynamic' && !may(call.user, 'can_edit_machines')) {
    refuse(forbidden("Unable to create dynamic IP range. You don't have sufficient privileges."));
  }
  const wanted = readForm(call, null);
  const id = call.region.next('range');
  const range = call.region.ranges.put(String(id), { id, ...wanted, owner: call.user.username });
  return json(viewRange(call.region, range));
};

export const updateRange: Handler = (call) => {
  const range = ownRangeOf(call);
  const row = Object.assign(call.region.ranges.edit(String(range.id)), readForm(call, range));
  return json(viewRange(call.region, row));
};
