import { noticeRoutes } from '../../core/contracts/notice.js';
import { actorOf } from '../requests/actor.js';
import { type RouteGroup, serve } from '../serve.js';

export const serveNotices: RouteGroup = async (app, { operations: { notices } }) =>
  serve(app, noticeRoutes, {
    'GET /notices/receivers': async () => ({ items: [...(await notices.receivers())] }),
    'GET /notices/deliveries': async () => ({ items: [...(await notices.deliveries())] }),
    'POST /notices/receivers/:receiver/test': (request) => notices.test(request.params.receiver, actorOf(request)),
  });
