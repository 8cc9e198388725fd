import { invalidForm, json, notFound, refuse } from './answer.js';
import { type Call, type Handler, requireAdmin } from './call.js';
import { viewSubnet } from './network-view.js';
import type { IpRange, StaticRoute, Subnet } from './records.js';

// What administrators set at subnets: gateway, DNS servers, routes to other subnets, address ranges.

const noSuchChoice = 'Select a valid choice. That choice is not one of the available choices.';

export const updateSubnet: Handler = (call) => {
  requireAdmin(call);
  const { region, form } = call;
  const id = call.parts[0] ?? '';
  if (!region.subnets.has(id)) refuse(notFound('Subnet'));
  const row = region.subnets.edit(id);
  if (form.has('gateway_ip')) row.gateway = form.get('gateway_ip') ?? '';
  if (form.has('dns_servers'))
    row.dnsServers = (form.get('dns_servers') ?? '').split(/[\s,]+/).filter((text) => text !== '');
  return json(viewSubnet(region, row));
};

function subnetIn(call: Call, field: string): Readonly<Subnet> {
  const given = call.form.text(field);
  if (given === null) refuse(invalidForm({ [field]: ['This field is required.'] }));
  return call.region.subnets.get(given) ?? refuse(invalidForm({ [field]: [noSuchChoice] }));
}

const viewRoute = ({ region }: Call, route: Readonly<StaticRoute>): object => ({
  source: viewSubnet(region, region.subnets.get(String(route.source)) as Subnet),
  destination: viewSubnet(region, region.subnets.get(String(route.destination)) as Subnet),
  gateway_ip: route.gateway,
  metric: route.metric,
  id: route.id,
  resource_uri: `/MAAS/api/2.0/static-routes/${route.id}/`,
});

export const listRoutes: Handler = (call) =>
  json([...call.region.routes.values()].map((route) => viewRoute(call, route)));

export const createRoute: Handler = (call) => {
  requireAdmin(call);
  const { region, form } = call;
  const source = subnetIn(call, 'source').id;
  const destination = subnetIn(call, 'destination').id;
  const gateway = form.text('gateway_ip') ?? refuse(invalidForm({ gateway_ip: ['This field is required.'] }));
  const isThere = [...region.routes.values()].some(
    (route) => route.source === source && route.destination === destination && route.gateway === gateway,
  );
  if (isThere) {
    const message = 'Static route with this Source, Destination and Gateway ip already exists.';
    refuse(invalidForm({ __all__: [message] }));
  }
  const id = region.next('route');
  const route = { id, source, destination, gateway, metric: Number(form.text('metric') ?? 0) };
  return json(viewRoute(call, region.routes.put(String(id), route)));
};

export const updateRoute: Handler = (call) => {
  requireAdmin(call);
  const id = call.parts[0] ?? '';
  if (!call.region.routes.has(id)) refuse(notFound('StaticRoute'));
  const row = call.region.routes.edit(id);
  row.metric = Number(call.form.text('metric') ?? row.metric);
  return json(viewRoute(call, row));
};

const viewRange = ({ region }: Call, range: Readonly<IpRange>): object => ({
  subnet: viewSubnet(region, region.subnets.get(String(range.subnet)) as Subnet),
  type: range.type,
  start_ip: range.start,
  end_ip: range.end,
  comment: range.comment,
  id: range.id,
  resource_uri: `/MAAS/api/2.0/ipranges/${range.id}/`,
});

export const listRanges: Handler = (call) =>
  json([...call.region.ranges.values()].map((range) => viewRange(call, range)));

const addressNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

export const createRange: Handler = (call) => {
  requireAdmin(call);
  const { region, form } = call;
  const type = form.text('type') ?? '';
  if (type !== 'dynamic' && type !== 'reserved') refuse(invalidForm({ type: [noSuchChoice] }));
  const start = form.text('start_ip') ?? refuse(invalidForm({ start_ip: ['This field is required.'] }));
  const end = form.text('end_ip') ?? refuse(invalidForm({ end_ip: ['This field is required.'] }));
  const subnet = subnetIn(call, 'subnet').id;
  const overlaps = [...region.ranges.values()].some(
    (range) =>
      range.subnet === subnet &&
      addressNumber(range.start) <= addressNumber(end) &&
      addressNumber(start) <= addressNumber(range.end),
  );
  if (overlaps) {
    refuse(invalidForm({ __all__: [`Requested ${type} range conflicts with an existing range.`] }));
  }
  const id = region.next('range');
  const range = { id, type, start, end, subnet, comment: form.get('comment') ?? '' };
  return json(viewRange(call, region.ranges.put(String(id), range)));
};
