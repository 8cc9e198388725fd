import { deleted, json, notFound, refuse } from '../answer.ts';
import { type Call, type Handler, requireRight } from '../call.ts';
import { REQUIRED, refuseField } from '../form-errors.ts';
import type { StaticRoute } from './records.ts';
import { subnetIn } from './subnets.ts';
import { viewRoute } from './view.ts';

export const listRoutes: Handler = ({ region }) =>
  json([...region.routes.values()].map((route) => viewRoute(region, route)));

const routeOf = ({ region, parts }: Call): Readonly<StaticRoute> =>
  region.routes.get(parts[0] ?? '') ?? refuse(notFound('StaticRoute'));

export const readRoute: Handler = (call) => json(viewRoute(call.region, routeOf(call)));

export const createRoute: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const { region, form } = call;
  const source = subnetIn(call, 'source').id;
  const destination = subnetIn(call, 'destination').id;
  const gateway = form.text('gateway_ip') ?? refuseField('gateway_ip', REQUIRED);
  const isThere = [...region.routes.values()].some(
    (route) => route.source === source && route.destination === destination && route.gateway === gateway,
  );
  if (isThere) refuseField('__all__', 'Static route with this Source, Destination and Gateway ip already exists.');
  const id = region.next('route');
  const route = { id, source, destination, gateway, metric: Number(form.text('metric') ?? 0) };
  return json(viewRoute(region, region.routes.put(String(id), route)));
};

export const updateRoute: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  const row = call.region.routes.edit(String(routeOf(call).id));
  row.metric = Number(call.form.text('metric') ?? row.metric);
  return json(viewRoute(call.region, row));
};

export const deleteRoute: Handler = (call) => {
  requireRight(call, 'can_edit_global_entities');
  call.region.routes.delete(String(routeOf(call).id));
  return deleted();
};
