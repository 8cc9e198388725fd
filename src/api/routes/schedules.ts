import { scheduleRoutes } from '../../core/contracts/schedules.ts';
import { actorOf } from '../requests/actor.ts';
import { given } from '../requests/given.ts';
import { type Asked, type RouteGroup, serve } from '../serve.ts';

export const serveSchedules: RouteGroup = async (app, { operations: { schedules } }) =>
  serve(app, scheduleRoutes, {
    async 'POST /schedules'(request, reply) {
      const made = await schedules.create(given(request.body), actorOf(request));
      void reply.header('location', `/api/v1/schedules/${encodeURIComponent(made.name)}`);
      return made;
    },
    'GET /schedules': async () => ({ items: await schedules.list() }),
    'GET /schedules/:schedule': ({ params }) => schedules.get(params.schedule),
    'POST /schedules/:schedule/pause': (request) => schedules.pause(request.params.schedule, noteOf(request)),
    'POST /schedules/:schedule/resume': (request) => schedules.resume(request.params.schedule, noteOf(request)),
    'POST /schedules/:schedule/run': (request) => schedules.run(request.params.schedule, noteOf(request)),
    'DELETE /schedules/:schedule': (request) => schedules.delete(request.params.schedule, actorOf(request)),
  });

const noteOf = (request: Asked<(typeof scheduleRoutes)['POST /schedules/:schedule/pause']>) =>
  given({ by: actorOf(request, request.body.by), reason: request.body.reason });
