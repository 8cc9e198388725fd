import { noticeRoutes } from '../../core/contracts/notices.ts';
import { actorOf } from '../requests/actor.ts';
import { type RouteGroup, serve } from '../serve.ts';

export const serveNotices: RouteGroup = async (app, { operations: { notices } }) =>
  serve(app, noticeRoutes, {
    'GET /notices/receivers': async () => ({ items: [...(await notices.receivers())] }),
    'POST /notices/receivers': (request) => notices.add(request.body, actorOf(request)),
    'GET /notices/deliveries': async () => ({ items: [...(await notices.deliveries())] }),
    'POST /notices/receivers/:receiver/test': (request) => notices.test(request.params.receiver, actorOf(request)),
  });
